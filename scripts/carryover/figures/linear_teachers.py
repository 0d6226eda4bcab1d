"""Networks with linear teachers ("Finetuning with linear teachers"): their risks, and bounds on them.

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from pydantic import NonNegativeFloat

from carryover.analysis import image_pairs
from carryover.analysis.run_tables import only
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import run_mask, select_runs
from carryover.statistics import jackknife
from carryover.theory.linear_teachers import gaussian_bound
from carryover.theory.transfer import linear_transfer_risk

FLOOR = 1e-2  # smallest risk of frozen networks that is shown
BOUND_COLORS = dict(zip(image_pairs.BOUNDS, ("#0072B2", "#E69F00", "#D55E00"), strict=True))
MANY_PAIRS = 100  # pairs of tasks from which on the spread of each is not drawn


@plugins.figure(data=["curve"])
def covariance_bound(data, p: Titled):
    """The bound by the covariance of the data (theorem 4.2) and the risk on random instances, with the constant that
    fits, and its terms over the number of samples.

    Role: `curve` of curves.covariance_bound.
    """
    kinds = {"top": ("tasks differ along top eigenvectors", "#009E73"),
             "bottom": ("along bottom eigenvectors", "#CC79A7"), "random": ("along all", "0.4")}  # fmt: skip
    largest_risk = 1.0  # λ₁|Δ|², of instances of which both factors are 1
    curve = data["curve"]
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 4.0))
    # The bound has a term in g³ and one in g, and g is proportional to c; `*_unit` are these terms at c = 1.
    c, tested = float(curve["c"]), curve.isel(instance=curve["half"].values == 1)
    risk, bound = tested["risk"], c**3 * tested["top_unit"] + c * tested["bottom_unit"]
    for kind, (label, color) in kinds.items():
        which = tested["alignment"].values == kind
        left.loglog(bound[which], risk[which], ".", ms=3, color=color, label=label)
    left.axline((1, 1), (2, 2), color="k", linestyle="--", linewidth=1, label="risk = bound")
    impossible = {"color": "0.9", "linewidth": 0, "zorder": 0, "label": "bound above any possible risk"}
    left.axvspan(largest_risk, float(bound.max()), **impossible)
    above = float((bound > largest_risk).mean())
    left.set_title(f"a: in {above:.0%} the bound exceeds any possible risk")
    left.set(xlabel=f"bound of eq 3 with c = {c:.2f}", ylabel="risk", ylim=(max(float(risk.min()), 1e-6), None))

    for needed, fitted, label, color in (
        ("needed", "c", "for the risk (eq 3)", "#0072B2"),
        ("estimation_needed", "c_estimation", "for |Σ̃ − Σ| ≤ g", "#D55E00"),
    ):
        middle.hist(curve[needed], bins=60, histtype="step", log=True, color=color, label=label)
        middle.axvline(float(curve[fitted]), color=color, linestyle=":", linewidth=1)
    middle.set(xlabel="constant c that an instance needs", ylabel="instances", title="b: constants (dotted: fitted)")

    samples = curve["samples"].values.astype(float)
    for kind, power in (("top", -1.5), ("bottom", -0.5)):
        values, color = curve[f"{kind}_term"].values, kinds[kind][1]
        right.loglog(samples, values, "o-", ms=3, color=color, label=f"{kind} term")
        law = values[-1] * (samples / samples[-1]) ** power
        right.plot(samples, law, ":", color=color, label=f"$n^{{{power:g}}}$")
    right.set(xlabel="samples n", ylabel="terms of the bound at c = 1", title="c: terms for the spectrum of Fig. 1")
    note = "a: constant fitted on one half of the instances, the other half shown; no risk exceeds λ₁|Δ|² = 1"
    return layout.finish(fig, p.title, note, columns=4)


@plugins.figure(data=["curve"])
def gaussian_bounds(data, p: Titled):
    """Theorem 5.4: risks on Gaussian inputs and the bounds for one layer and for endlessly many, how often these
    are broken at a fixed ε, and what they tell about depth.

    Role: `curve` of curves.gaussian_bounds, with ε = 0.
    """
    source_norm, angle = 4.0, 0.125  # in a: norm of the source, that of the target is 1; angle in units of π
    epsilon = 0.2  # of the bounds in b
    bounds = {"one_layer": ("L = 1, eq 10", 1), "deep": ("L → ∞, eq 9", np.inf)}  # label and depth
    curve = data["curve"]
    colors = {1: "#0072B2", 2: "#56B4E9", 7: "#E69F00", np.inf: "#D55E00"}  # by depth
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 3.9))
    highest = int(curve["dimension"].max())

    one = curve.sel(dimension=highest, source_norm=source_norm, angle=angle)
    for depth in colors:
        low, median, high = (one["risk"].sel(depth=depth).quantile(q, "draw") for q in (0.025, 0.5, 0.975))
        label = "risk, L → ∞" if np.isinf(depth) else f"risk, L = {depth:g}"
        panels.band(left, one["gamma"], median, low, high, label, marker="o", ms=3, color=colors[depth])
    for name in bounds:
        left.plot(one["gamma"], one[name].sel(epsilon=0.0), "kx", ms=7, label="bounds at ε = 0 (eqs 9, 10)")
    left.set(yscale="log", xlabel="samples per dimension n/d", ylabel="risk / |θ_T|²")
    left.set_title(f"a: |θ_S| = {source_norm:g} |θ_T|, θ = {angle:g} π")

    for name, (label, depth) in bounds.items():
        above = curve["risk"].sel(depth=depth) > curve[name].sel(epsilon=epsilon)
        for d, style in zip(curve["dimension"].values, (":", "-", "--"), strict=False):
            share = 100 * above.sel(dimension=d).mean(("source_norm", "angle", "draw"))
            look = {"ms": 4, "color": colors[depth], "label": f"bound of {label}, d = {d}"}
            middle.plot(curve["gamma"], share, f"o{style}", **look)
    middle.set(xlabel="samples per dimension n/d", ylabel="inputs that break the bound [%]", ylim=(0, None))
    middle.set_title(f"b: bounds at ε = {epsilon:g}")

    tight = curve.sel(dimension=highest, epsilon=0.0)
    # Geometric mean over draws of the ratio of risks, against the ratio of the bounds, at each task and n/d.
    gain = 10 ** np.log10(tight["risk"].sel(depth=1) / tight["risk"].sel(depth=np.inf)).mean("draw")
    pairs = (ratios.values.ravel() for ratios in xr.broadcast(tight["one_layer"] / tight["deep"], gain))
    right.loglog(*pairs, "o", ms=5, mfc="none", color="#009E73", label="a pair of tasks at an n/d")
    right.axline((1, 1), (2, 2), color="k", linewidth=1, zorder=0, label="equal ratios")
    right.axhline(1, color="0.7", linewidth=0.6)
    right.axvline(1, color="0.7", linewidth=0.6)
    right.set(xlabel="ratio of the bounds, eq 10 / eq 9", ylabel="ratio of risks, L = 1 / L → ∞")
    right.set_title("c: what depth gains")
    drawn = f"{curve.sizes['draw']} draws of inputs, d = {highest} in a and c; a: median and central 95 % of the draws"
    return layout.finish(fig, p.title, drawn, "b: mean over all pairs of tasks", "c: mean over draws", columns=3)


@plugins.figure(data=["bound"])
def ntk_bound(data, p: Titled):
    """Wide ReLU networks with linear teachers (section 6): risk against the bound of theorem 6.1, and the norm in that
    bound against the distance between the tasks.

    Roles: `bound`, the measure `ntk_bound` of networks finetuned and from scratch at several distances.
    """
    top = 2.0  # upper end of the vertical axis; the risk is at most 1, so that bounds above 1 say nothing
    runs = data["bound"]
    solved, trained = select_runs(runs, solver="exact"), runs.isel(run=~run_mask(runs, solver="exact"))
    distances = np.array(panels.values(runs, "distance"))
    size, widths = (2.2 * (len(distances) + 1) + 1.9, 4.4), [*[1] * len(distances), 1.7]
    fig, (*panes, last) = plt.subplots(1, len(widths), figsize=size, width_ratios=widths)
    for ax, distance in zip(panes, distances, strict=True):
        for protocol, part, color in panels.assign_colors(select_runs(trained, distance=distance), "protocol"):
            name, look = panels.name(runs, "protocol", protocol), {"color": color, "ms": 4}
            panels.draw_spread(ax, part, "absolute_risk", "samples", name, **look)
            panels.draw_spread(ax, part, "bound", "samples", f"{name}, first term of the bound", linestyle="--", **look)
            limit = panels.medians(
                select_runs(solved, protocol=protocol, distance=distance), "absolute_risk", "samples"
            )
            ax.plot(limit.index, limit, "kx", ms=5, label="infinite width")
            if protocol == "finetuning":
                panels.level(ax, part, "start_risk", "before finetuning", color="0.5", linestyle=":")
        ax.axhspan(1, top, color="0.85", linewidth=0, label="vacuous bound")
        layout.name_ticks(ax, panels.values(part, "samples"), 2)
        ax.set(yscale="log", xlabel="target samples n", ylim=(None, top), title=f"|Δ| = {distance:g}")
        ax.sharey(panes[0])
        ax.label_outer()
    panes[0].set_ylabel("mean of min(|f − f*|, 1)")

    # The norm of what finetuning has to learn against |Δ|, for the largest number of samples.
    tuned, n = select_runs(trained, protocol="finetuning"), runs["samples"].values.max()
    norms = (("ntk_norm_linear", "norm, source learned exactly", "o"), ("ntk_norm", "norm, as pretrained", "^"))
    for quantity, label, marker in norms:
        middle = panels.medians(select_runs(tuned, samples=n), quantity, "distance")
        last.plot(middle.index, middle, marker, color=panels.COLORS["finetuning"], ms=6, mfc="none", label=label)
    for slope, label, style in ((3, "3 |Δ| (corollary 6.2)", "--"), (2, "2 |Δ|", "-")):
        last.plot(distances, slope * distances, style, color="k", linewidth=1, label=label)
    last.set(yscale="log", xlabel="|Δ|", ylabel="√(ỹᵀ H⁻¹ ỹ)", title=f"norm in the bound, n = {n:g}")
    layout.plain_decades(last.yaxis)
    layout.name_ticks(last, distances)
    below = float((tuned["bound"] < tuned["start_risk"]).mean())
    share = f"the bound is below the risk before finetuning in {below:.0%} of the runs"
    return layout.finish(fig, p.title, "Δ = θ_T − θ_S", panels.describe_spread(runs), share)


@plugins.figure(data=["risk", "layers"])
def frozen_layer(data, p: Titled):
    """Networks whose first layers are frozen, finetuned ones, and those from scratch (Fig. 3, theorem 5.5).

    Roles: `risk` of two layers, pretrained exactly and by descent; `layers`, of more, of which several are frozen.
    Neither has label noise, and the tasks of each have one angle.
    """
    risk, layers = (runs.assign(risk_final=runs["risk_final"].clip(FLOOR)) for runs in (data["risk"], data["layers"]))
    scratch = run_mask(risk, protocol="single_task")
    vanishing, larger = (risk.isel(run=scratch | run_mask(risk, pretrain_solver=how)) for how in ("exact", "descent"))
    # The exact limit of finetuning is that of balanced weights, which large ones are not.
    larger = larger.isel(run=~run_mask(larger, protocol="finetuning", solver="exact"))
    shown = {
        "a: 2 layers, pretrained from vanishing weights": vanishing,
        "b: 2 layers, pretrained from larger weights": larger,
        f"c: {int(layers['depth'].values[0])} layers, the first k frozen": layers,
    }
    protocols = {"single_task": "from scratch (vanilla)", "finetuning": "finetuned", "linear_transfer": "frozen"}
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.0), sharey=True)
    for (ax, (title, panel)), (protocol, label) in product(zip(axes, shown.items(), strict=True), protocols.items()):
        # Exact limits as lines, the same for any number of frozen layers, and trained networks as markers.
        runs, color = select_runs(panel, protocol=protocol), panels.COLORS[protocol]
        solved, trained = (runs.isel(run=run_mask(runs, solver=how)) for how in ("exact", "descent"))
        if solved.sizes["run"]:
            panels.draw_spread(ax, solved, "risk_final", "samples", label, color=color, marker="")
        else:
            middle, look = panels.medians(trained, "risk_final", "samples"), {"linewidth": 0.8, "linestyle": "--"}
            ax.plot(middle.index, middle, color=color, label="finetuned, gradient descent (b)", **look)
        numbers = panels.values(trained, "frozen")
        for place, (frozen, marker) in enumerate(zip(numbers, ("s", "D", "v", "^"), strict=False)):
            kind = f"k = {frozen:g} frozen" if len(numbers) > 1 else label
            shift = 1.13 ** (place - (len(numbers) - 1) / 2)  # so that markers do not hide each other
            look = {"color": color, "marker": marker, "label": f"{kind}, gradient descent"}
            panels.draw_medians(ax, select_runs(trained, frozen=frozen), "risk_final", "samples", shift=shift, **look)
        ax.set(title=title, ylim=(0.8 * FLOOR, None), yscale="log", xlabel="target samples n")
        layout.name_ticks(ax, panels.values(panel, "samples"), 2)
    # Mean risks: of one finetuned layer, and of the multiple of the source that fits the samples best.
    theta, n = np.pi * only(risk, "angle"), np.unique(risk["samples"].values)
    d = round(float((risk["samples"] / risk["gamma"]).values[0]))
    source, orthogonal = np.eye(2, d)
    target = np.cos(theta) * source + np.sin(theta) * orthogonal
    mean = gaussian_bound(source, target, n[n <= d], 0.0).clip(min=FLOOR)
    axes[0].plot(n[n <= d], mean, "k--", linewidth=1, label="one finetuned layer, mean (eq 10 at ε = 0)")
    fitted = linear_transfer_risk(theta, 0.0, n[n > 2])
    axes[0].plot(n[n > 2], fitted, "k:", linewidth=1, label="multiple of the source fitted to n samples, mean")
    axes[0].set_ylabel("risk")
    notes = *panels.limits_and_trained_in_words(risk), f"risks below {FLOOR:g} are drawn there"
    return layout.finish(fig, p.title, *notes, columns=4)


@plugins.figure(data=["risk"])
def norm_scale(data, p: Titled):
    """Scaling the source or the target of finetuning (Fig. 2b).

    Role: `risk` of finetuning with several norms of source and target, among them 1, over depths and samples.
    """
    risk = select_runs(data["risk"], protocol="finetuning")
    only(risk, "angle")  # raises if there are several, since they must not be averaged
    depths, sizes = panels.values(risk, "depth"), panels.values(risk, "samples")
    size = (2.5 * len(sizes) + 0.9, 2.0 * len(depths) + 1.1)
    fig, axes = plt.subplots(len(depths), len(sizes), figsize=size, sharex=True, sharey="row", squeeze=False)
    for (depth, samples), ax in zip(product(depths, sizes), axes.flat, strict=True):
        shown = select_runs(risk, depth=depth, samples=samples)
        source, target = select_runs(shown, target_norm=1.0), select_runs(shown, source_norm=1.0)
        panels.draw_spread(ax, source, "risk_final", "source_norm", "source scaled", color="#0072B2")
        panels.draw_spread(ax, target, "risk_final", "target_norm", "target scaled", color="#D55E00", linestyle="--")
        ax.set(yscale="log", title=f"L = {depth:g}, n = {samples:g}")
        layout.name_ticks(ax, panels.values(risk, "target_norm"), 2)
    plt.setp(axes[:, 0], ylabel="risk")
    plt.setp(axes[-1], xlabel="norm; the other's is 1")
    return layout.finish(fig, p.title, "L layers, n samples", panels.describe_spread(risk))


class BoundCorrelations(Titled):
    constant: NonNegativeFloat = parameter(1.0, "c of eq 3; 0 for the limit of small ones")


@plugins.figure(data=["bounds", "published"])
def bound_correlations(data, p: BoundCorrelations):
    """R² between the error of finetuning on pairs of image tasks and three bounds on it, along the samples, and the
    published; and the error against one (Table 1).

    Roles: `bounds`, the measure of an experiment of the family image_pairs, and `published`, the paper's table.

    A column per estimator. Above: R² along the samples, mean over repeats; bars are intervals over classes of images.
    Below: a point per pair of tasks, mean over repeats and, of few pairs, their deviation.
    """
    runs, table = select_runs(data["bounds"], protocol="finetuning"), image_pairs.pair_table(data["bounds"], p.constant)
    found = image_pairs.leave_one_class_out(table)
    estimators = table["estimator"].values.tolist()
    size = (1.2 + 3.6 * len(estimators), 7.0)
    fig, axes = plt.subplots(2, len(estimators), figsize=size, sharey="row", squeeze=False)
    for (top, bottom), estimator in zip(axes.T, estimators, strict=True):
        _bounds_along(top, found.sel(estimator=estimator), data["published"])
        top.set_title(image_pairs.in_words(estimator))
        _draw_pairs(bottom, table.sel(estimator=estimator, samples=10), "covariance")
    axes[0, 0].set(ylabel="R² of error and bound over pairs", ylim=(0, 1))
    axes[-1, 0].set_ylabel("misclassified share of held-out images")
    counted = f"{table.sizes['pair']} pairs, {panels.seeds_in_words(runs)}, {runs['pixels'].values[0]} pixels"
    points = "a point per pair" if table.sizes["pair"] > MANY_PAIRS else "mean and standard deviation over seeds"
    spread = f"bars above: 95 % jackknife over classes; below: {points}"
    return layout.finish(fig, p.title, counted, spread, columns=3)


def _draw_pairs(ax, table, bound):
    """The error of each pair of tasks in a `pair_table` against one bound: means over repeats, and with few pairs their
    standard deviations."""
    frame = xr.Dataset({"bound": table["bounds"].sel(bound=bound, drop=True), "error": table["error"]}).to_dataframe()
    pairs = frame.groupby("pair")[["bound", "error"]]
    mean, deviation, color = pairs.mean(), pairs.std().fillna(0), BOUND_COLORS[bound]
    if table.sizes["pair"] > MANY_PAIRS:
        ax.plot(mean["bound"], mean["error"], ".", ms=2, alpha=0.4, color=color)
    else:
        ends = {"yerr": deviation["error"], "xerr": deviation["bound"]}
        ax.errorbar(mean["bound"], mean["error"], **ends, fmt="o", ms=4, color=color, elinewidth=0.7)
    r_squared = np.corrcoef(mean["bound"], mean["error"])[0, 1] ** 2
    ax.set(xlabel=f"bound: {image_pairs.BOUNDS[bound]}", xlim=(0, None))
    ax.set_title(f"n = {table['samples'].item()}: R² of these means {r_squared:.2f}")


def _bounds_along(ax, values, table):
    """Draw R² of the error with each bound against samples, with 95 % intervals, and, dashed, the published R².

    `values` (left_out, bound, samples) are R² of all pairs, then without those of each class, as the jackknife takes
    them; `table` is the paper's, a data frame."""
    sizes = values["samples"].values
    apart = 0.06 * min(np.diff(sizes), default=1)  # so that bars do not hide each other
    for place, (bound, name) in enumerate(image_pairs.BOUNDS.items()):
        found = [jackknife.estimate(values.sel(bound=bound, samples=n).values, 0.0, jackknife.R_SQUARED) for n in sizes]
        found, color, x = pd.DataFrame(found), BOUND_COLORS[bound], sizes + (place - 1) * apart
        ax.plot(x, found["statistic"], "o-", ms=4, color=color, label=name)
        ax.vlines(x, found["low"], found["high"], color=color, alpha=0.5)
        theirs, _ = image_pairs.look_up_published(table, bound)
        ax.plot(theirs.index, theirs, "--", color=color, label=f"{name}, published")
    ax.set(xlabel="target samples n", xticks=sizes)
