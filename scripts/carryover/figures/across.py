"""Figures across papers: trained networks and their exact limits (E1), our risks and the published ones (B9), and
the atlas (E7).

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure.
"""

from itertools import cycle
from math import ceil

import matplotlib.pyplot as plt
import numpy as np
from pydantic import NonNegativeInt, PositiveInt

from carryover.analysis.agreement import distances, distances_at_convergence, relative_differences
from carryover.analysis.atlas import LARGEST, maps
from carryover.analysis.transferability import transferability
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs

FLOW, DESCENT = {"color": "#332288"}, {"color": "#DDAA33"}
AGREE = 1e-3  # relative distance that the claim on it allows
SOLVERS = [
    ({"solver": "flow"}, "gradient flow, adaptive", FLOW),
    ({"solver": "descent"}, "gradient descent", DESCENT),
    ({"solver": "symmetric"}, "minimiser of eq 22 (paths taken alike)", {"color": "#AA4499"}),
]


class SolverAgreement(Titled):
    samples: PositiveInt = parameter(32, "samples of the run whose training is shown")


@plugins.figure(data=["coefficients", "trajectory", "risk", "relu"])
def solver_agreement(data, p: SolverAgreement):
    """How far trained diagonal networks end from the exact limit, and how many gradient evaluations training takes. For
    ReLU networks, which have no exact limit, gradient descent is compared with gradient flow.

    Roles: `coefficients`, `trajectory` and `risk` of diagonal networks solved and simulated; `relu` is the risk of ReLU
    networks by flow and by descent with several learning rates.
    """
    protocols = "single_task", "finetuning"
    labels = ("relative distance from the exact limit", "gradient evaluations", "risk along training",
              "relative difference of the risk\nof descent from that of the flow", "gradient evaluations")  # fmt: skip
    risk, distance = data["risk"], distances(data["coefficients"])
    relu = data["relu"][["risk_final", "evaluations", "learning_rate"]]
    relu = relative_differences(relu, "flow", "learning_rate")
    fig, axes = plt.subplots(len(labels), len(protocols), figsize=(4.6 * len(protocols), 13.6), sharey="row")
    for (above, cost, course, difference, relu_cost), protocol in zip(axes.T, protocols, strict=True):
        panels.curves(above, select_runs(distance, protocol=protocol), "distance", "samples", SOLVERS)
        panels.curves(cost, select_runs(risk, protocol=protocol), "evaluations", "samples", SOLVERS[:2])
        for ax in (above, cost):
            ax.set_yscale("log")
            layout.name_values(ax, select_runs(risk, protocol=protocol), "samples")
        above.set_xlabel("")

        # Risk against flow time at full overlap, a line per seed: flow and descent should follow the same path.
        same = {"protocol": protocol, "samples": p.samples, "overlap": risk["overlap"].values.max()}
        for solver, style, look in (("flow", "-", FLOW), ("descent", "--", DESCENT)):
            runs = select_runs(data["trajectory"], solver=solver, **same)
            course.plot(runs["time"].T, runs["risk_curve"].T, style, linewidth=1, alpha=0.8, **look)
        for end in select_runs(risk, solver="exact", **same)["risk_final"].values:
            course.axhline(end, color="0.6", linewidth=0.6, linestyle=":", label="exact limit")
        course.set(xscale="log", yscale="log", xlabel=f"flow time (n = {p.samples}, full overlap)")

        # Difference of descent from flow, and gradient evaluations of descent and of flow (`evaluations_other`),
        # against the learning rate of descent; a line style for each n.
        for samples, dashes in zip(sorted(relu["samples"].unique()), cycle(panels.LINES), strict=False):
            runs = relu[(relu["protocol"] == protocol) & (relu["samples"] == samples)]
            for ax, quantity, look in ((difference, "difference", DESCENT), (relu_cost, "evaluations", DESCENT),
                                       (relu_cost, "evaluations_other", FLOW)):  # fmt: skip
                panels.draw_spread(ax, runs, quantity, "learning_rate", linestyle=dashes, **look)
            difference.plot([], [], color="0.3", linestyle=dashes, label=f"ReLU networks, n = {samples}")
        for ax in (difference, relu_cost):
            layout.name_ticks(ax, sorted(relu["learning_rate"].unique()))
            ax.set_yscale("log")
        relu_cost.set_xlabel("learning rate of gradient descent")
        name = panels.name(risk, "protocol", protocol)
        above.set_title(f"diagonal networks: {name}")
        difference.set_title(f"ReLU networks: {name}")
    for ax, label in zip(axes[:, 0], labels, strict=True):
        ax.set_ylabel(label)
    return layout.finish(fig, p.title, panels.describe_spread(data["coefficients"]), columns=2)


@plugins.figure(data=["coefficients", "risk", "depth_coefficients", "depth_risk"])
def linear_agreement(data, p: Titled):
    """Deep linear networks: where gradient descent arrives in the steps it is given, that gradient flow closes the gap,
    what early stopping does to transferability at n = d, and whether networks of any depth end at the limit.

    Roles: `coefficients` and `risk` of one experiment solved and simulated, and `depth_coefficients` and `depth_risk`
    of finetuning to a stretched source over depths.
    """
    solvers = [({"solver": "descent"}, "gradient descent", {"color": "k"}),
               ({"solver": "balanced"}, "flow of balanced networks", {"color": "#009E73"})]  # fmt: skip
    distance, risk = distances(data["coefficients"]), data["risk"]
    protocols = panels.values(distance, "protocol")
    names = {protocol: panels.name(risk, "protocol", protocol) for protocol in protocols}
    fig, axes = plt.subplots(2, len(protocols) + 1, figsize=(3.2 * len(protocols) + 4.0, 5.6), sharex="col")
    axes, depths = axes[:, :-1], axes[:, -1]
    for ax, protocol in zip(axes[0], protocols, strict=True):
        ax.sharey(axes[0, 0])
        panels.curves(ax, select_runs(distance, protocol=protocol), "distance", "gamma", solvers)
        ax.axhline(AGREE, color="0.5", linestyle=":", label=f"agreement: below {AGREE:g}")
        ax.set(yscale="log", title=names[protocol])
    axes[0, 0].set_ylabel("relative distance from\nthe exact limit")

    # Median steps of gradient descent, hollow where some runs had used them up.
    steps = axes[1, 0]
    # Curves that coincide are moved apart by these.
    shifts = np.linspace(-0.02, 0.02, len(protocols))
    for protocol, color, shift in zip(protocols, panels.colors("protocol", protocols), shifts, strict=True):
        runs = select_runs(risk, protocol=protocol, solver="descent")
        runs = runs.assign_coords(gamma=runs["gamma"] + shift)
        middle = panels.medians(runs, "evaluations", "gamma")
        steps.plot(middle.index, middle, color=color, label=f"steps, {names[protocol]}")
        panels.draw_medians(steps, runs, "evaluations", "gamma", color=color)
    steps.set(yscale="log", ylabel="steps of gradient descent", title="steps")
    layout.plain_decades(steps.yaxis)

    # Transferability at the exact limit, and where gradient descent was stopped, of networks trained alike.
    for ax, protocol in zip(axes[1, 1:], protocols[1:], strict=True):
        runs = transferability(risk, protocol)
        for solver, label, color in (("exact", "exact limit", "#CC79A7"), ("descent", "gradient descent", "k")):
            panels.draw_spread(ax, runs[runs["solver"] == solver], "transferability", "gamma", label, color=color)
        ax.axhline(0, **layout.ZERO)
        if runs["transferability"].abs().max() > 1:
            ax.set_yscale("symlog", linthresh=1.0)
        ax.set_title(f"{names[protocol]}: transferability")
    plt.setp(axes[1], xlabel="samples per dimension γ")

    # Eq 5 over depth: all converged networks, and the risk of those whose source is stretched most.
    ended = distances_at_convergence(data["depth_coefficients"], data["depth_risk"])
    descended = select_runs(data["depth_risk"], solver="descent")
    at = {name: panels.values(descended, name)[-1] for name in ("stretch", "deviation")}
    for samples, runs, color in panels.assign_colors(select_runs(data["depth_risk"], **at), "samples"):
        look = {"color": color, "label": f"n = {samples:g} (right)"}
        panels.draw_spread(depths[0], ended[ended["samples"] == samples], "distance", "depth", **look)
        panels.draw_limits_and_medians(depths[1], runs, "risk_final", "depth", **look)
    depths[0].axhline(AGREE, color="0.5", linestyle=":")
    depths[0].set(yscale="log", title="PT+FT by depth")
    depths[1].set(yscale="log", title=f"PT+FT, α = {at['stretch']:g}: risk", xlabel="layers L")
    depths[1].set_xticks(panels.values(descended, "depth"))
    hollow = "hollow where some runs missed their tolerance"
    return layout.finish(fig, p.title, panels.describe_spread(risk), hollow, "right, below: lines are exact limits")


class Atlas(Titled):
    settings: NonNegativeInt = parameter(0, "maps of each family, by settings such as the noise; 0: the usual one")


@plugins.figure()
def atlas(data, p: Atlas):
    """Maps of what pretraining gains in several families, over samples and similarity, in one colour scale (E7).

    Roles: the maps of families, datasets as comparisons.atlas makes them, by any names. Each protocol of a family has a
    panel at its usual setting, such as the noise, or at each of `p.settings` settings, evenly spread.
    """
    shown, columns = maps(data, p.settings), 3
    rows = ceil(len(shown) / columns)
    fig, axes = plt.subplots(rows, columns, figsize=(3.1 * columns, 2.5 * rows + 1.1), squeeze=False)
    for ax, (role, title, table) in zip(axes.flat, shown, strict=False):
        image = _map(ax, data[role].attrs, title, table)
    for ax in axes.flat[len(shown) :]:
        ax.remove()
    label = f"gain: log₁₀ of risk from scratch / after transfer, cut at ±{LARGEST:g}"
    fig.colorbar(image, ax=fig.axes, label=label, shrink=0.6, extend="both", aspect=40)
    notes = "dots: gains that the seeds leave open", "dotted: one sample for each parameter"
    return layout.finish(fig, p.title, *notes)


def _map(ax, about, title, table):
    """Draw gains in colours, dots on cells of open sign, and a line where the predicted gain changes its sign; a dotted
    line is where there are as many samples as parameters. The coloured mesh, for a colour bar.

    `about` are the attributes of a family's map, `title` and `table` its title and its `cells` as `maps` returns them.
    """
    per_parameter = table.groupby("samples")["samples_per_parameter"].mean()
    gain, predicted = (table.pivot(index="row", columns="samples", values=name) for name in ("gain", "predicted"))
    opened = table[table["open"]]
    x, rows = np.arange(gain.shape[1]), np.arange(gain.shape[0])
    edges = (np.arange(size + 1) - 0.5 for size in gain.shape[::-1])  # also of a map of one row or column
    image = panels.gain_map(ax, *edges, gain.to_numpy(float), LARGEST)  # type: ignore[call-arg]
    ax.plot(gain.columns.get_indexer(opened["samples"]), opened["row"], ".", color="0.35", markersize=2.2)
    if min(predicted.shape) > 1 and predicted.min().min() < 0 < predicted.max().max():
        clipped = predicted.clip(-LARGEST, LARGEST).where(predicted != 0)  # no line where no change is predicted
        ax.contour(x, rows, clipped, levels=[0.0], colors="k", linewidths=1.4)
        ax.plot([], [], color="k", label="between predicted gain and loss")
    if per_parameter.min() <= 1 <= per_parameter.max():
        ax.axvline(np.interp(0, np.log(per_parameter), x), color="0.35", linewidth=0.8, linestyle=":")
    columns = x[:: ceil(len(x) / 5)]  # with labels for 5 columns and 7 rows at most
    ax.set_xticks(columns, [f"{per_parameter.iloc[column]:.2g}" for column in columns])
    similarity = table.groupby("row")["similarity"].mean()
    labelled = similarity.index[:: ceil(len(similarity) / 7)]
    ax.set_yticks(labelled, [f"{similarity[row]:.2g}".replace("-", "−") for row in labelled])
    ax.set(xlabel=f"samples per {about['map_parameters_are']}", ylabel=about["map_similarity_is"], title=title)
    return image
