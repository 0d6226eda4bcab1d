"""A diagnosis in words: a headline, and an HTML page that needs no other file."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from xarray import Dataset

from carryover.diagnosis import task
from carryover.diagnosis.quantities import WITH_INTERVALS
from carryover.diagnosis.regimes import WORDS, criteria
from carryover.templates.rendering import rendered

_BANDS = ((0.8, "80 % or more"), (0.5, "50 to 80 %"), (0.2, "20 to 50 %"), (-1, "less than 20 %"))
_TASK = {
    task.THERE: "what the task needs was there before",
    task.ADDED: "finetuning added what the task needs",
    task.LOST: "finetuning lost part of what the task needs",
    task.ABSENT: "the task cannot be read linearly, before or after",
    "undecided": "whether what the task needs was there before is undecided",
}
_COLUMNS = {  # label, and the reference beside it
    "inherited_share": ("inherited", "inherited_reference"),
    "kept_share": ("kept", "kept_reference"),
    "inherited_weighted": ("inherited, by variance", ""),
    "kept_weighted": ("kept, by variance", ""),
    "task_before": ("probe before", ""),
    "task_after": ("probe after", "task_baseline"),
    "reweighting": ("reweighted by", ""),
    "participation_ratio_before": ("PR before", ""),
    "participation_ratio_after": ("PR after", ""),
    "ensd": ("ENSD", "ensd_reference"),
    "change": ("PR after / before", ""),
    "inherited": ("ENSD / PR after", ""),
    "cka": ("CKA", "cka_reference"),
}


def headline(result: Dataset) -> str:
    """The task, verdicts, what is kept along the depth, the control, the weights, and warnings."""
    layers: dict[str, list[str]] = {}
    for name, regime in _column(result, "regime"):
        layers.setdefault(regime, []).append(name)
    verdicts = [
        f"{regime} in {len(layers[regime])} ({_listed(layers[regime])})" for regime in WORDS if regime in layers
    ]
    count = result.sizes["layer"]
    sentences = [_on_task(result), f"{count} layer{'s' * (count > 1)}: {', '.join(verdicts)}."]
    sentences += [_depth_profile(result), _on_control(result), result.attrs.get("note", "")]
    if warned := [name for name, text in _column(result, "warning") if text]:
        sentences.append(f"Read the warning{'s' * (len(warned) > 1)} of {_listed(warned)}.")
    return " ".join(sentence for sentence in sentences if sentence)


def _depth_profile(result: Dataset) -> str:
    """The kept share of the variance along the depth, in runs of layers; its range where there are many runs."""
    shares = ((name, value) for name, value in _column(result, "kept_weighted") if not np.isnan(value))
    kept = [(name, max(value, 0.0)) for name, value in shares]  # below 0: an unrelated network predicts more
    if not kept:
        return ""
    if len(kept) == 1:
        return f"Of the variance before, {kept[0][1]:.0%} is kept."

    def band(pair: tuple[str, float]) -> str:
        return next(words for least, words in _BANDS if pair[1] >= least)

    runs = [(words, [name for name, _ in run]) for words, run in groupby(kept, key=band)]
    if len(runs) > 4:
        least, most = (choose(kept, key=lambda pair: pair[1]) for choose in (min, max))
        return f"Of the variance before, layers keep from {least[1]:.0%} ({least[0]}) to {most[1]:.0%} ({most[0]})."
    clauses = []
    for words, names in runs:
        several = f"{names[0]} to {names[-1]}" if len(names) > 2 else " and ".join(names)
        clauses.append(f"{several} {'keep' if len(names) > 1 else 'keeps'} {words}")
    return f"Of the variance before, {', '.join(clauses)}."


def _on_task(result: Dataset) -> str:
    """What happened to the task in the last layer, and where it differs."""
    last = result.isel(layer=-1)
    if "task" not in result or not (verdict := last["task"].item()):
        return ""
    name = last["layer"].item()
    before, after, baseline, chance = (
        last[f"task_{what}"].item() for what in ("before", "after", "baseline", "chance")
    )
    scores = f"{before:.2f} before and {after:.2f} after"
    scores += "" if np.isnan(baseline) else f", {baseline:.2f} in the baseline"
    sentence = f"In {name} {_TASK[verdict]}: a linear probe scores {scores} (chance {chance:.2f})."
    elsewhere = {
        other: [layer for layer, found in _column(result, "task") if found == other]
        for other in (task.ADDED, task.LOST)
        if other != verdict
    }
    apart = [f"{other} in {_listed(names)}" for other, names in elsewhere.items() if names]
    return f"{sentence} The task was {' and '.join(apart)}." if apart else sentence


def _on_control(result: Dataset) -> str:
    if "control_regime" not in result:
        return ""
    same = int((result["control_regime"] == result["regime"]).sum())
    return (
        f"The control has the same verdict in {same} of {result.sizes['layer']} layers, and predicts the components "
        f"after finetuning with a mean R² of {float(result['control_r2'].mean()):.2f}."
    )


def _column(result: Dataset, name: str) -> list[tuple[str, Any]]:
    return list(zip(result["layer"].values.tolist(), result[name].values.tolist(), strict=True))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])}, …"


def page(result: Dataset, png: bytes, note: str = "") -> str:
    """The page of what `diagnose` returned, with its figure and the criteria; `note` is one more line at the end."""
    columns = [name for name in _COLUMNS if name in result]
    return rendered(
        "diagnosis.html.j2",
        figure=b64encode(png).decode(),
        note=note,
        summary=headline(result),
        regimes={regime: words for regime, words in WORDS.items() if regime in result["regime"].values},
        heads=("layer", "verdict", "samples", "units", *(_COLUMNS[name][0] for name in columns)),
        rows=[_row(result.sel(layer=name), columns) for name in result["layer"].values],
        limits=result.attrs,
        criteria=criteria(result.attrs),
    )


def _row(layer: Dataset, columns: Sequence[str]) -> list[str | list[str]]:
    """Cells of a table: a text, or a main part and further ones below it."""
    value = {key: variable.item() for key, variable in layer.variables.items()}
    needed = "" if np.isnan(value["samples_needed"]) else f"about {value['samples_needed']:,.0f} samples suffice"
    note = f"Note: {value['warning']}" if value["warning"] else ""
    verdict = [value["regime"], "; ".join(text for text in (value["reason"], needed, note) if text)]
    units = f"{value['units_before']} → {value['units_after']}"
    cells: list[str | list[str]] = [value["layer"], verdict, str(value["samples"]), units]
    for quantity in columns:
        lines = ["" if np.isnan(value[quantity]) else f"{value[quantity]:.3g}"]
        if quantity in WITH_INTERVALS and lines[0]:
            lines.append(f"[{value[f'{quantity}_low']:.3g}, {value[f'{quantity}_high']:.3g}]")
        if not np.isnan(reference := value.get(_COLUMNS[quantity][1], np.nan)):
            lines.append(f"unrelated: {reference:.3g}")
        cells.append(lines)
    return cells
