"""The exact limit beside simulation (E1): how far trained networks end from it, and what training costs. ReLU networks,
which have no exact limit: descent beside the flow."""

from itertools import cycle

import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

from carryover import labels
from carryover.analysis.agreement import distances, risks_beside_flow
from carryover.figures.drawing import layout, log_axes, panels

SOLVERS = {
    "flow": ("gradient flow, adaptive", "#332288"),
    "descent": ("gradient descent", "#DDAA33"),
    "symmetric": ("minimiser of eq 22 (paths taken alike)", "#AA4499"),
}


def draw(data, p):
    """Roles: `coefficients`, `trajectory` and `risk` of diagonal networks solved and simulated; `relu` is the risk of
    ReLU networks by flow and by descent with several learning rates."""
    distance = distances(data["coefficients"])
    columns = len(p.protocols)
    fig, axes = plt.subplots(5, columns, figsize=(4.6 * columns, 13.6), sharey="row", squeeze=False)
    beside_flow = risks_beside_flow(data["relu"])
    for ax, protocol in zip(axes.T, p.protocols, strict=True):
        _distance(ax[0], panels.where(distance, protocol=protocol))
        _evaluations(ax[1], panels.where(data["risk"], protocol=protocol))
        _training(ax[2], data, protocol, p.samples)
        _by_rate(ax[3:], data["relu"], beside_flow[beside_flow["protocol"] == protocol])
        name = panels.name(data["risk"], "protocol", protocol)
        ax[0].set_title(f"diagonal networks: {name}")
        ax[3].set_title(f"ReLU networks: {name}")
    axes[0, 0].set_ylabel("relative distance from the exact limit")
    axes[1, 0].set_ylabel("gradient evaluations")
    axes[2, 0].set_ylabel("risk along training")
    axes[3, 0].set_ylabel("relative difference of the risk\nof descent from that of the flow")
    axes[4, 0].set_ylabel("gradient evaluations")
    what = "Diagonal networks: the flow ends at the exact limit, descent near it, neither at the minimiser of eq 22"
    return layout.finished(fig, what, panels.spread_in_words(data["coefficients"]), columns=2)


def _distance(ax, distance):
    for solver, (label, color) in SOLVERS.items():
        if (distance["solver"].values == solver).any():
            panels.spread(ax, panels.where(distance, solver=solver), "distance", "samples", label, color=color)
    ax.set_yscale("log")
    log_axes.samples(ax, panels.values(distance, "samples"))


def _evaluations(ax, risk):
    for solver in ("flow", "descent"):
        label, color = SOLVERS[solver]
        panels.spread(ax, panels.where(risk, solver=solver), "evaluations", "samples", label, color=color)
    ax.set_yscale("log")
    ax.set_xlabel(labels.label(risk, "samples"))
    log_axes.samples(ax, panels.values(risk, "samples"))


def _training(ax, data, protocol, samples):
    """Risk against flow time for every seed at full overlap: both ways of training follow one path."""
    chosen = {"protocol": protocol, "samples": samples, "overlap": data["risk"]["overlap"].values.max()}
    for solver, style in (("flow", "-"), ("descent", "--")):
        _, color = SOLVERS[solver]
        curves = panels.where(data["trajectory"], solver=solver, **chosen)
        for run in range(curves.sizes["run"]):
            ax.plot(curves["time"][run], curves["risk_curve"][run], style, color=color, linewidth=1, alpha=0.8)
    ends = panels.where(data["risk"], solver="exact", **chosen)["risk_final"].values
    for end in ends:
        ax.axhline(end, color="0.6", linewidth=0.6, linestyle=":", label="exact limit" if end == ends[0] else None)
    ax.set(xscale="log", yscale="log", xlabel=f"flow time (n = {samples}, full overlap)")


def _by_rate(axes, risk, table):
    """Difference from the flow, and the cost of both, against the learning rate of descent; a line for each n."""
    for samples, dashes in zip(panels.values(risk, "samples"), cycle(("-", "--", ":", "-.")), strict=False):
        runs = table[table["samples"] == samples].groupby("learning_rate")
        shown = (0, "difference", "descent"), (1, "evaluations", "descent"), (1, "evaluations_flow", "flow")
        for row, quantity, solver in shown:
            middle, low, high = runs[quantity].median(), runs[quantity].min(), runs[quantity].max()
            style = {"marker": "o", "linestyle": dashes, "color": SOLVERS[solver][1]}
            panels.band(axes[row], middle.index, middle, low, high, **style)
        axes[0].plot([], [], color="0.3", linestyle=dashes, label=f"ReLU networks, n = {samples}")
    rates = sorted(set(table["learning_rate"]))
    for ax in axes:
        ax.set(xscale="log", yscale="log")
        ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
        ax.xaxis.set_minor_locator(NullLocator())
    axes[1].set_xlabel("learning rate of gradient descent")
