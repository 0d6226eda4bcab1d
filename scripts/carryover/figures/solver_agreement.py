"""The exact limit beside simulation (E1): how far trained networks end from it, and what training costs. ReLU networks,
which have no exact limit: descent beside the flow."""

from itertools import cycle

import matplotlib.pyplot as plt

from carryover.claims.agreement import descent_and_flow, distances
from carryover.figures.drawing import layout, panels
from carryover.runs import chosen, where

SOLVERS = {
    "flow": ("gradient flow, adaptive", "#332288"),
    "descent": ("gradient descent", "#DDAA33"),
    "symmetric": ("minimiser of eq 22 (paths taken alike)", "#AA4499"),
}
PROTOCOLS = ("single_task", "finetuning")
LABELS = (
    "relative distance from the exact limit",
    "gradient evaluations",
    "risk along training",
    "relative difference of the risk\nof descent from that of the flow",
    "gradient evaluations",
)


def draw(data, p):
    """Roles: `coefficients`, `trajectory` and `risk` of diagonal networks solved and simulated; `relu` is the risk of
    ReLU networks by flow and by descent with several learning rates."""
    risk, relu, distance = data["risk"], descent_and_flow(data["relu"]), distances(data["coefficients"])
    columns = len(PROTOCOLS)
    fig, axes = plt.subplots(len(LABELS), columns, figsize=(4.6 * columns, 13.6), sharey="row")
    for (above, cost, course, *below), protocol in zip(axes.T, PROTOCOLS, strict=True):
        for ax, runs, quantity, solvers in ((above, distance, "distance", SOLVERS),
                                            (cost, risk, "evaluations", ("flow", "descent"))):  # fmt: skip
            for solver in solvers:
                if chosen(runs, protocol=protocol, solver=solver).any():
                    shown, (label, color) = where(runs, protocol=protocol, solver=solver), SOLVERS[solver]
                    panels.spread(ax, shown, quantity, "samples", label, color=color)
            ax.set_yscale("log")
            layout.name_values(ax, where(runs, protocol=protocol), "samples")
        above.set_xlabel("")
        _training(course, data, protocol, p.samples)
        _by_rate(below, relu[relu["protocol"] == protocol])
        name = panels.name(risk, "protocol", protocol)
        above.set_title(f"diagonal networks: {name}")
        below[0].set_title(f"ReLU networks: {name}")
    for ax, label in zip(axes[:, 0], LABELS, strict=True):
        ax.set_ylabel(label)
    return layout.finish(fig, p.title, panels.spread_in_words(data["coefficients"]), columns=2)


def _training(ax, data, protocol, samples):
    """Risk against flow time for every seed at full overlap: both ways of training follow one path."""
    same = {"protocol": protocol, "samples": samples, "overlap": data["risk"]["overlap"].values.max()}
    for solver, style in (("flow", "-"), ("descent", "--")):
        runs, color = where(data["trajectory"], solver=solver, **same), SOLVERS[solver][1]
        ax.plot(runs["time"].T, runs["risk_curve"].T, style, color=color, linewidth=1, alpha=0.8)
    for end in where(data["risk"], solver="exact", **same)["risk_final"].values:
        ax.axhline(end, color="0.6", linewidth=0.6, linestyle=":", label="exact limit")
    ax.set(xscale="log", yscale="log", xlabel=f"flow time (n = {samples}, full overlap)")


def _by_rate(axes, table):
    """Difference from the flow, and the cost of both, against the learning rate of descent; a line for each n."""
    for samples, dashes in zip(sorted(table["samples"].unique()), cycle(("-", "--", ":", "-.")), strict=False):
        runs = table[table["samples"] == samples].groupby("learning_rate")
        shown = (0, "difference", "descent"), (1, "evaluations", "descent"), (1, "evaluations_other", "flow")
        for row, quantity, solver in shown:
            middle, low, high = runs[quantity].median(), runs[quantity].min(), runs[quantity].max()
            style = {"marker": "o", "linestyle": dashes, "color": SOLVERS[solver][1]}
            panels.band(axes[row], middle.index, middle, low, high, **style)
        axes[0].plot([], [], color="0.3", linestyle=dashes, label=f"ReLU networks, n = {samples}")
    for ax in axes:
        layout.name_ticks(ax, sorted(set(table["learning_rate"])))
        ax.set_yscale("log")
    axes[1].set_xlabel("learning rate of gradient descent")
