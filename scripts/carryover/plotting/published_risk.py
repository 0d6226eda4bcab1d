"""Our risks of a family of networks beside the published ones, with a z-score per cell."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import pandas as pd

from carryover.analysis import published_risks
from carryover.config.parameters import parameter
from carryover.drawing import panels
from carryover.labels import value_labels

MARKERS = ("o", "s", "^", "D", "v")
QUANTITIES = {"risk_final": "at the end of training", "risk_best": "smallest along training"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    family: str = parameter("diagonal", "whose published risks", choices=tuple(published_risks.CELLS))
    title: str = parameter("Published risks are the smallest along training, not the last (diagonal networks, ours and "
                           "theirs)", "what is seen")  # fmt: skip
    floor: float = parameter(1e-8, "cells below are left out: there the stopping loss sets the risk", above=0)


def draw(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`)
    our risk dataset.

    Left: ours against published, in colours of the protocol and markers of the sample size. Right: z-scores.
    """
    table = published_risks.cells(data["published"], p.family)
    ours = {name: data[name].to_dataframe() for name in table["experiment"].unique() if name in data}
    names = {k: v for experiment in ours for k, v in value_labels(data[experiment], "protocol").items()}
    fig, axes = plt.subplots(2, 2, figsize=(10.5, 8.6), width_ratios=[1, 1.25])
    for (quantity, meaning), (scatter, scores) in zip(QUANTITIES.items(), axes, strict=True):
        parts = [
            published_risks.compare(runs, table[table["experiment"] == name], quantity, p.floor)
            for name, runs in ours.items()
        ]
        cells = pd.concat(parts, ignore_index=True)
        cells["name"] = [names.get(protocol, protocol) for protocol in cells["protocol"]]
        _scatter(scatter, cells, p.floor, meaning)
        _scores(scores, cells, meaning)
    return panels.finished(fig, p.title)


def _groups(cells):
    sizes = sorted(cells["samples"].unique())
    for (protocol, name, samples), group in cells.groupby(["protocol", "name", "samples"], sort=True):
        marker = MARKERS[sizes.index(samples) % len(MARKERS)]
        label = f"{name}, n = {samples}"
        yield group, {"color": panels.color(protocol), "marker": marker, "label": label, "linestyle": "none"}


def _scatter(ax, cells, floor, meaning):
    for group, style in _groups(cells):
        ax.plot(group["published"], group["ours"], markersize=5, alpha=0.75, **style)
    ax.axline((floor, floor), (1, 1), color="0.5", linewidth=0.8, linestyle=":")
    ax.set(xscale="log", yscale="log", xlabel="published risk (geometric mean)", ylabel="our risk (geometric mean)")
    ax.set_title(f"Risk {meaning}: {len(cells)} cells")


def _scores(ax, cells, meaning):
    """z-scores in the order of the published risk, clipped to ±15 with a triangle's place kept."""
    ordered = cells.sort_values("published").reset_index(drop=True)
    for group, style in _groups(ordered):
        ax.plot(group.index, group["z"].clip(-15, 15), markersize=5, alpha=0.75, **style)
    ax.axhspan(-2, 2, color="0.92", zorder=0)
    within = (ordered["z"].abs() < 2).mean() if len(ordered) else float("nan")
    ax.set(
        xlabel="cell, in the order of the published risk", ylabel="z of the log risk (clipped at ±15)", ylim=(-16, 16)
    )
    ax.set_title(f"Risk {meaning}: {within:.0%} of cells within 2 standard errors")
