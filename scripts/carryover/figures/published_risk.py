"""Our risks of a family of networks beside the published ones, cell by cell, with their distance in standard errors."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims import published_risk
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
    cells = published_risk.compared(data, p.family)
    ours = [data[name] for name in cells["experiment"].unique()]
    names = {value: label for runs in ours for value, label in value_labels(runs, "protocol").items()}
    trained = cells["z_best"].notna()
    rows = {"best": cells[trained], "final": cells[trained], "fitted": cells[~trained]}
    rows = {kind: shown for kind, shown in rows.items() if len(shown)}
    size = (9.6, 3.2 * len(rows) + 1.2)
    fig, axes = plt.subplots(len(rows), 2, figsize=size, width_ratios=[1, 1.4], squeeze=False, sharex=True)
    sizes, near = sorted(cells["samples"].unique()), published_risk.NEAR
    markers = {n: MARKERS[place % len(MARKERS)] for place, n in enumerate(sizes)}
    for (kind, shown), (scatter, scores) in zip(rows.items(), axes, strict=True):
        column = "best" if kind == "best" else "final"
        for (protocol, n), group in shown.groupby(["protocol", "samples"], sort=False):
            look = {"color": panels.COLORS[protocol], "marker": markers[n], **STYLE}
            scatter.plot(group["published"], group[f"ours_{column}"], **look)
            scores.plot(group["published"], group[f"z_{column}"].clip(-FARTHEST, FARTHEST), **look)
        scatter.axline((published_risk.FLOOR,) * 2, (1, 1), color="0.5", linewidth=0.8, linestyle=":")
        scatter.set(xscale="log", yscale="log", ylabel="our risk", title=f"risk {MEANINGS[kind]}")
        scores.axhspan(-near, near, color="0.92", zorder=0)
        scores.set(xscale="log", ylabel="z of the log risk", ylim=(-FARTHEST - 1, FARTHEST + 1))
        agree = published_risk.agreeing(shown[f"z_{column}"])
        scores.set_title(f"{np.mean(agree):.0%} of {len(agree)} cells within {near} standard errors")
    for ax in axes[-1]:
        ax.set_xlabel("published risk")
    for protocol in [name for name in names if name in set(cells["protocol"])]:
        axes[0, 0].plot([], [], color=panels.COLORS[protocol], marker="o", label=names[protocol], **STYLE)
    for n, marker in markers.items():
        axes[0, 0].plot([], [], color="0.4", marker=marker, label=f"n = {n}", **STYLE)
    seeds = min(len(np.unique(runs["seed"])) for runs in ours)
    note = f"geometric means over seeds, {seeds} seeds of ours; z beyond ±{FARTHEST} drawn there"
    return layout.finish(fig, p.title, note)
