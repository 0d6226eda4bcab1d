"""Pretraining between lazy and rich ("Features are fate", Fig. 9): transferability by the penalty that keeps the
features near their initial ones."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from carryover.analysis.linear_transfer import by_anchor, gains
from carryover.config.parameters import parameter
from carryover.drawing import panels

FREE, INITIAL = "#CC79A7", "0.45"  # the ends: pink as in the paper, grey


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter("Linear transfer to a target of mostly new units, by how far pretraining let the features "
                           "move", "what is seen")  # fmt: skip
    readout: str = parameter("zero", "how the readout was trained in the linear transfer of panel a")
    lowest: float = parameter(-0.5, "lower end of the axes of transferability, at which they are cut", maximum=0)


def draw(data, p):
    """Roles: `risk` and `gram` of an experiment of the family mean_field with several anchors, 0 and infinity."""
    risk = data["risk"]
    tables = by_anchor(gains(risk, p.readout))
    fig, (gain, mean, aligned) = plt.subplots(1, 3, figsize=(13.5, 4.2), width_ratios=(1.5, 1.2, 1))
    _by_samples(gain, tables)
    place = _places(tables)
    ways = [way for way in panels.values(risk, "readout") if way]
    for way, color in zip(ways, ("#332288", "#DDCC77", "#117733"), strict=False):
        _by_penalty(mean, by_anchor(gains(risk, way)), place, panels.name(risk, "readout", way), color)
    best = {anchor: table.mean(axis=1) for anchor, table in tables.items()}
    own = pd.DataFrame(best).idxmax(axis=1)
    mean.plot([place[anchor] for anchor in own], [best[a][seed] for seed, a in own.items()], "k*", ms=7,
              label="best λ of each seed in a")  # fmt: skip
    _features(aligned, data["gram"], place)
    for ax in (mean, aligned):
        ax.set_xticks(list(place.values()), [_number(anchor) for anchor in place])
        ax.set_xlabel("penalty λ on the distance from the start")
    for ax in (gain, mean):
        ax.axhline(0, color="0.6", linewidth=0.6)
        low, high = ax.dataLim.intervaly
        ax.set_ylim(max(low, p.lowest), high + 0.05)
    gain.set(xlabel="target samples n", ylabel="transferability / target variance")
    gain.set_title(f"a: {panels.name(risk, 'readout', p.readout)}")
    mean.set(ylabel="mean transferability over n", title="b: by how the readout is trained")
    aligned.set(ylabel="alignment with the source's kernel", title="c: features")
    mu = float(panels.where(risk, protocol="linear_transfer")["ablated"].values[0])
    cut = f"a, b: cut at {p.lowest:g}".replace("-", "−")
    return panels.finished(fig, p.title, f"μ = {mu:g}, {panels.seeds_in_words(risk)}", panels.SPREAD, cut)


def _by_samples(ax, tables):
    between = [anchor for anchor in tables if 0 < anchor < np.inf]
    colors = {0.0: FREE, **dict(zip(between, panels.colors("anchor", between), strict=True)), np.inf: INITIAL}
    for anchor, table in tables.items():
        label = "λ = ∞, initial features" if np.isinf(anchor) else f"λ = {anchor:g}"
        style = {"marker": "o", "ms": 4, "color": colors[anchor]}
        if anchor in between:  # bands of all would hide each other
            ax.plot(table.columns, table.median(), label=label, **style)
        else:
            panels.band(ax, table.columns, table.median(), table.min(), table.max(), label, **style)
    panels.log_samples(ax, sorted(table.columns))


def _by_penalty(ax, tables, place, label, color):
    means = pd.DataFrame({place[anchor]: table.mean(axis=1) for anchor, table in tables.items()})
    panels.band(ax, means.columns, means.median(), means.min(), means.max(), label, marker="o", ms=4, color=color)


def _features(ax, gram, place):
    frame = gram[["alignment", "initial_alignment"]].to_dataframe()
    for name, label, color in (("alignment", "pretrained", "#D55E00"), ("initial_alignment", "before", "0.6")):
        seeds = frame.groupby("anchor")[name]
        style = {"marker": "o", "ms": 4, "color": color}
        panels.band(ax, [place[a] for a in seeds.groups], seeds.median(), seeds.min(), seeds.max(), label, **style)


def _places(anchors):
    """Where each anchor stands on an axis: those between by their logarithm, 0 and infinity beside them."""
    between = [anchor for anchor in anchors if 0 < anchor < np.inf]
    logs = {anchor: float(np.log10(anchor)) for anchor in between}
    return {0.0: min(logs.values()) - 1.0, **logs, np.inf: max(logs.values()) + 1.0}


def _number(anchor):
    """'0', '∞', '0.01', and nothing for a number that is no power of ten."""
    if anchor == 0 or np.isinf(anchor):
        return "∞" if anchor else "0"
    return f"{anchor:g}" if float(round(np.log10(anchor), 9)).is_integer() else ""
