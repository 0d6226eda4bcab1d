"""Our risks of a family of networks beside the published ones, cell by cell, with their distance in standard errors."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis import published_risks
from carryover.figures.drawing import layout, panels
from carryover.labels import value_labels

MARKERS = ("o", "s", "^", "D", "v")
FARTHEST = 12  # standard errors that are drawn
STYLE = {"linestyle": "none", "markersize": 5, "alpha": 0.75}
MEANINGS = {"best": "smallest along training", "final": "at the end of training", "fitted": "of ridge regression"}


def draw(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`)
    our risk dataset.

    Left: ours against published, in colours of the protocol and markers of the sample size. Right: z-scores. A row for
    the smallest and one for the last risk of the same cells, and one of cells whose networks were fitted, not trained.
    """
    cells = published_risks.beside(data, p.family, p.floor)
    ours = [data[name] for name in cells["experiment"].unique()]
    names = {k: v for runs in ours for k, v in value_labels(runs, "protocol").items()}
    trained = cells["z_best"].notna()
    rows = {"best": cells[trained], "final": cells[trained], "fitted": cells[~trained]}
    rows = {kind: shown for kind, shown in rows.items() if len(shown)}
    fig, axes = plt.subplots(
        len(rows), 2, figsize=(9.6, 3.2 * len(rows) + 1.2), width_ratios=[1, 1.4], squeeze=False, sharex=True
    )
    sizes = sorted(cells["samples"].unique())
    for (kind, shown), (scatter, scores) in zip(rows.items(), axes, strict=True):
        column = "best" if kind == "best" else "final"
        for group, style in _groups(shown, sizes):
            scatter.plot(group["published"], group[f"ours_{column}"], **style)
            scores.plot(group["published"], group[f"z_{column}"].clip(-FARTHEST, FARTHEST), **style)
        _scatter(scatter, p.floor)
        _scores(scores, published_risks.agreeing(shown[f"z_{column}"]))
        scatter.set_title(f"risk {MEANINGS[kind]}")
    for ax in axes[-1]:
        ax.set_xlabel("published risk")
    _explain(axes[0, 0], [name for name in names if name in set(cells["protocol"])], names, sizes)
    counts = f"{min(runs['seed'].to_series().nunique() for runs in ours)} seeds of ours"
    return layout.finished(fig, p.title, f"geometric means over seeds, {counts}; z beyond ±{FARTHEST} drawn there")


def _groups(cells, sizes):
    for protocol, samples in product(cells["protocol"].unique(), sizes):
        group = cells[(cells["protocol"] == protocol) & (cells["samples"] == samples)]
        yield group, {"color": panels.color(protocol), "marker": _marker(sizes, samples), **STYLE}


def _marker(sizes, samples):
    return MARKERS[sizes.index(samples) % len(MARKERS)]


def _scatter(ax, floor):
    ax.axline((floor, floor), (1, 1), color="0.5", linewidth=0.8, linestyle=":")
    ax.set(xscale="log", yscale="log", ylabel="our risk")


def _scores(ax, agree):
    near = published_risks.NEAR
    ax.axhspan(-near, near, color="0.92", zorder=0)
    ax.set(xscale="log", ylabel="z of the log risk", ylim=(-FARTHEST - 1, FARTHEST + 1))
    ax.set_title(f"{np.mean(agree):.0%} of {len(agree)} cells within {near} standard errors")


def _explain(ax, protocols, names, sizes):
    """Entries of the legend, which belong to no points: a colour for each protocol, a marker for each sample size."""
    for protocol in protocols:
        ax.plot([], [], color=panels.color(protocol), marker="o", label=names.get(protocol, protocol), **STYLE)
    for samples in sizes:
        ax.plot([], [], color="0.4", marker=_marker(sizes, samples), label=f"n = {samples}", **STYLE)
