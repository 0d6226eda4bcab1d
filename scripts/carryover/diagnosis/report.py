"""A diagnosis in words and as a figure."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from xarray import Dataset

from carryover.diagnosis import task
from carryover.diagnosis.regimes import CLOSE, REGIMES, VARIANCE, contradicting

_CLASSES = 15  # from which on labels may be numbers
_FEW = 4  # layers of which each is named
_LOWEST = -0.5  # shares below it are drawn here: layers with a share below 0 are unrelated anyway


def headline(result: Dataset) -> str:
    """Summary of a diagnosis: the task, the verdicts, the share of the variance that is kept, the weights, warnings."""
    table = result.to_dataframe()
    layers = {regime: rows.index for regime, rows in table.groupby("regime")}
    verdicts = [
        f"{regime} in {len(layers[regime])} ({_join_names(layers[regime])})" for regime in REGIMES if regime in layers
    ]
    count = len(table)
    sentences = [
        f"{count} layer{'s' * (count > 1)}: {', '.join(verdicts)}.",
        _format_kept_share(table, result.attrs["reference"]),
    ]
    # Layers whose share by variance contradicts the verdict, which counts components. Of few layers the kept shares by
    # variance have all been named in the sentence before.
    for quantity, words in VARIANCE.items():
        said = [quantity in contradicting(row, result.attrs["most"]) for _, row in table.iterrows()]
        if any(said) and (quantity != "kept_weighted" or count > _FEW):
            sentences.append(f"By variance {words} is {_shares(table[said][quantity][:3])}{', …' * (sum(said) > 3)}.")
    if "task" in table:  # the verdict on the task in the last layer, and the layers where it was added or lost instead
        last = table.iloc[-1]
        scores = f"{last['task_before']:.2f} before and {last['task_after']:.2f} after"
        scores += "" if np.isnan(last["task_baseline"]) else f", {last['task_baseline']:.2f} in the baseline"
        classes = round(1 / last["task_chance"]) if last["task_chance"] else 0  # chance is 0 for numbers as targets
        scores += f" (chance {last['task_chance']:.2f}"
        scores += f", {classes} classes: give floats if they are numbers)" if classes > _CLASSES else ")"
        sentence = f"In {last.name} {task.in_words(last)}: a linear probe scores {scores}."
        changed = {word: table.index[table["task"] == word] for word in (task.ADDED, task.LOST) if word != last["task"]}
        elsewhere = [f"{word} in {_join_names(names)}" for word, names in changed.items() if len(names)]
        sentence += f" The task was {' and '.join(elsewhere)}." if elsewhere else ""
        sentences.insert(0, sentence)
    sentences.append(result.attrs.get("note", ""))  # on the weights
    warned = table.index[table["warning"] != ""]
    if len(warned):
        sentences.append(f"Read the warning{'s' * (len(warned) > 1)} of {_join_names(warned)}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _format_kept_share(table: pd.DataFrame, reference: str) -> str:
    """The kept share of the variance of each layer, or of many its range, as text; "" if all are constant.

    `table` has a row for each layer, and `reference` is what shares are compared with, such as "baseline".
    """
    kept = table["kept_weighted"].dropna()
    if kept.empty:
        return ""
    # Of a layer that the baseline predicts better than `CLOSE`, the share is not counted beyond it.
    counts = reference == "baseline" and (table["kept_reference"][kept.index] <= CLOSE).all()
    beyond = ", beyond the baseline" if counts else ""
    if len(kept) > _FEW:
        return f"Of the variance before, from {_shares(kept.sort_values().iloc[[0, -1]], ' to ')} is kept{beyond}."
    shares = _shares(kept) if len(table) > 1 else f"{max(kept.iloc[0], 0):.0%}"
    return f"Of the variance before, {shares} is kept{beyond}."


def _shares(values: pd.Series, joined: str = ", ") -> str:
    """'18% in layer1, 86% in layer2'; a share is negative where the baseline predicts more."""
    return joined.join(f"{max(share, 0):.0%} in {name}" for name, share in values.items())


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= _FEW else f"{', '.join(names[:3])}, …"


def by_layer(result: Dataset) -> str:
    """A line on each layer: verdict, quantities and intervals behind it, the samples that suffice, and warnings."""
    lines = []
    for name, row in result.to_dataframe().iterrows():
        needed = "" if np.isnan(row["samples_needed"]) else f"about {row['samples_needed']:,.0f} samples suffice"
        lines.append(f"{name}: {'; '.join(filter(None, (row['regime'], row['reason'], needed, row['warning'])))}")
    return "\n".join(lines)


def draw(result: Dataset) -> Figure:
    """Three panels, by layer in the order of the data: bars are intervals. `result` is what `diagnose` returned."""
    names, attributes = result["layer"].values.tolist(), result.attrs
    longest = max(len(name) for name in names)
    upwards = longest > 14  # letters that fit next to the name of the next layer
    size = max(6.5, 2.0 + 0.9 * len(names)), 8.4 + (0.08 * longest if upwards else 0)
    fig, axes = plt.subplots(3, 1, figsize=size, sharex=True, layout="constrained")
    reference = "the baseline's" if attributes["reference"] == "baseline" else "no baseline given"
    panels = {
        f"a  Shares of components, beyond an unrelated network's ({reference})":
            {"inherited_share": "inherited", "kept_share": "kept", "kept_weighted": "kept, by variance"},
        "b  Dimensions by variance, and those that both share":
            {"participation_ratio_before": "PR before", "participation_ratio_after": "PR after", "ensd": "ENSD"},
        "c  Ratios by variance, as the paper has them":
            {"change": "PR after / PR before", "inherited": "ENSD / PR after", "cka": "CKA"},
    }  # fmt: skip
    places = np.arange(len(names))
    for ax, (title, quantities) in zip(axes, panels.items(), strict=True):
        for shift, (quantity, label) in zip((-0.15, 0, 0.15), quantities.items(), strict=True):
            (points,) = ax.plot(places + shift, np.maximum(result[quantity], _LOWEST), "o", label=label, clip_on=False)
            if f"{quantity}_low" in result:  # they may lie off the point where samples are few
                low, high = (np.maximum(result[f"{quantity}_{end}"], _LOWEST) for end in ("low", "high"))
                ax.vlines(places + shift, low, high, color=points.get_color(), linewidth=1.2)
        ax.set_title(title, loc="left", fontsize="medium")
    shares, dimensions, ratios = axes
    shares.axhline(attributes["most"], color="0.6", linewidth=0.8, linestyle=":")
    shares.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    shares.set(ylim=(_LOWEST, 1.08), ylabel="share of components")
    dimensions.set(ylim=(0, None), ylabel="dimensions")
    ratios.plot(places + 0.15, result["cka_reference"], "_", color="0.4", markersize=14, label="CKA, unrelated")
    ratios.set(ylim=(0, max(ratios.get_ylim()[1], 1.2)), ylabel="ratio", xlim=(-0.6, len(names) - 0.4))
    for ax in axes:
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    labels = [f"{name}\n{regime}" for name, regime in zip(names, result["regime"].values, strict=True)]
    ratios.set_xticks(places, labels, rotation=90 if upwards else 0, size="small")
    fig.suptitle(
        f"What finetuning did to the features (bars: {attributes['confidence']:.0%} intervals;\n"
        f"dotted: {attributes['most']:g} of the components, from which on they count as inherited, or kept)",
        fontsize="medium",
    )
    return fig
