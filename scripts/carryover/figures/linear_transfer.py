"""Transfer between linear tasks ("Features are fate", Fig. 1, 2 and 4 to 8): networks and theory.

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure.
γ = n/d is samples per dimension, `angle` θ/π, `noise` σ, transferability the risk from scratch less that of transfer.
"""

from itertools import cycle, product
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from pydantic import NonNegativeFloat

from carryover.analysis.run_tables import only
from carryover.analysis.transferability import at, predict, transferability, with_decay
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, panels
from carryover.figures.titled import Titled
from carryover.runs import select_runs
from carryover.streams import generator
from carryover.theory.transfer import optimal_ridge, ridge_transfer_risk

LARGEST = 1.0  # transferability at which colours and slices end
GAMMA, ANGLE, GAIN = "samples per dimension γ", "angle θ / π", "transferability"
RIGHT = 0.5  # a right angle between the tasks, in units of π
FORMULAS = {
    "linear": "eq 11",
    "linear_finite": "eq 8 less eq 10",
    "finetuning": "eq 15",
    "finetuning_norm": "eq 15 with the norm factor",
}
"""{name of a formula, as `predict` takes it: where it stands}"""


def averages(runs, by):
    """A data frame with the columns `by`, and `mean`, `std` and `sem` (standard error) of transferability over draws.

    `runs` is a data frame by `analysis.transferability.transferability`."""
    return runs.groupby(list(by))["transferability"].agg(["mean", "std", "sem"]).reset_index()


def shares_in_words(table, formulas):
    """'eq 15: 8% at γ < 1/2, …; of eq 11: …': for each formula and block of γ, the share of the rows of `averages` that
    lie within two standard errors. A difference of 1e-9 is rounding; means of one draw have no error and are left out.

    At γ = 1 the risk from scratch has no mean. Where a formula is 0 everywhere, networks learn the same function from
    any start, so that agreement means nothing: such blocks are left out.
    """
    table, names = table[table["gamma"] != 1], ["γ < 1/2", "1/2 ≤ γ < 1", "γ > 1"]
    blocks = pd.cut(table["gamma"], [0, 0.5, 1, np.inf], right=False, labels=names)
    notes = []
    for formula in formulas:
        shares = []
        for block, rows in table.groupby(blocks, observed=True):
            theory = predict(formula, rows)
            if np.any(theory != 0):
                near = (rows["mean"] - theory).abs() <= 2 * rows["sem"] + 1e-9
                share = near[np.isfinite(theory) & np.isfinite(rows["sem"])].mean()
                shares.append(f"{share:.0%} at {block}".replace(" ", "\N{NO-BREAK SPACE}"))
        notes.append(f"{FORMULAS[formula]}: {', '.join(shares)}")
    return "; of ".join(notes)


class TransferDiagram(Titled):
    protocol: Literal["linear_transfer", "finetuning"] = parameter("linear_transfer", "compared with scratch training")
    noise: NonNegativeFloat = parameter(0.2, "standard deviation of the label noise")


@plugins.figure(data=["risk", "theory"])
def transfer_diagram(data, p: TransferDiagram):
    """Transferability of two layers over data and overlap: theory, networks, and slices (Fig. 1, 2, 7 and 8).

    Roles: `risk` of single-task and transferred deep linear networks, `theory` of curves.transferability.
    """
    runs = select_runs(data["risk"], noise=p.noise, depth=2)
    table = averages(transferability(runs, p.protocol), ("angle", "gamma", "samples", "noise", "depth"))
    only(runs, "target_norm")
    theory = at(data["theory"], noise=p.noise, depth=2).transpose("angle", "gamma")
    # Line styles of formulas; the first is the one that the networks follow.
    formulas = {"linear": "-"} if p.protocol == "linear_transfer" else {"finetuning_norm": "-", "finetuning": "--"}
    first = next(iter(formulas))
    fig = plt.figure(figsize=(9.2, 7.6))
    surface = fig.add_subplot(2, 2, 1, projection="3d")
    expected, measured, slices = (fig.add_subplot(2, 2, i) for i in (2, 3, 4))

    # The view is along the spike at γ = 1, from the side on which gains are small, so that nothing is hidden.
    grid, gamma, angle = (theory[name].values for name in (first, "gamma", "angle"))
    colors = {"cmap": "RdBu", "vmin": -LARGEST, "vmax": LARGEST, "rasterized": True, "linewidth": 0}
    surface.plot_surface(*np.meshgrid(gamma, angle), grid.clip(-LARGEST, LARGEST), rstride=2, cstride=2, **colors)
    surface.set(xlabel="γ", ylabel=ANGLE, zlabel=GAIN, title="a: theory", ylim=(angle.max(), angle.min()))
    surface.view_init(30, -75)

    solved = "exact limits" if set(runs["solver"].values) == {"exact"} else "trained networks"
    maps = {"b: theory": theory[first].to_pandas(),
            f"c: {solved}, mean over draws": table.pivot(index="angle", columns="gamma", values="mean")}  # fmt: skip
    for ax, (title, square) in zip((expected, measured), maps.items(), strict=True):
        image = panels.gain_map(ax, square.columns, square.index, square, LARGEST)
        for name, style in formulas.items():
            known = theory[name].where(theory[name] != 0)  # 0 where pretraining is forgotten is no boundary
            ax.contour(gamma, angle, known, levels=[0.0], colors="k", linestyles=style)
            ax.plot([], [], style, color="k", label=f"no gain: {FORMULAS[name]}")
        ax.set(xlabel=GAMMA, ylabel=ANGLE, title=title, ylim=(0, 0.5), xlim=(0, 2.05))
    fig.colorbar(image, ax=[expected, measured], label=f"{GAIN}, cut at ±{LARGEST:g}", shrink=0.8)

    angles, shown = table["angle"].unique(), (0.125, 0.25, 0.375)
    for wanted, color in zip(shown, panels.colors("angle", shown), strict=True):
        nearest = angles[np.abs(angles - wanted).argmin()]
        rows = table[(table["angle"] == nearest) & np.isfinite(predict(first, table))]
        label = f"θ = {nearest:g} π"
        slices.errorbar(rows["gamma"], rows["mean"], rows["std"], fmt="o", ms=3, color=color, label=label)
        for name, style in formulas.items():
            named = f"slices: {FORMULAS[name]}" if wanted == shown[0] else None
            slices.plot(gamma, theory[name].interp(angle=nearest), style, color=color, linewidth=1, label=named)
    slices.axhline(0, **layout.ZERO)
    slices.set(xlabel=GAMMA, ylabel=GAIN, ylim=(-1.1 * LARGEST, 1.1 * LARGEST), title="d: slices (bars: s.d. of draws)")
    shares = shares_in_words(table, ("linear", "linear_finite") if p.protocol == "linear_transfer" else formulas)
    note = f"σ = {p.noise:g}, {panels.seeds_in_words(runs)}"
    # Eq 11 is a limit, and eq 8 less eq 10 is not; where draws hardly vary, two standard errors see the difference.
    limit = ["at γ > 1 draws hardly vary, and eq 11 lacks terms of order 1/n"] if p.noise == 0 else []
    return layout.finish(fig, p.title, note, f"means within 2 s.e. of {shares}", *limit, columns=3)


@plugins.figure(data=["risk", "theory"])
def norm_factor(data, p: Titled):
    """Which formula finetuning of deep linear networks follows: eq 15 of "Features are fate", or that with the norm
    factor of eq 5 of "Finetuning with linear teachers"; they differ at the order σ².

    Roles: `risk` of finetuned and single-task networks of several depths and noises, `theory`.
    """
    formulas = {"finetuning": ("--", "#D55E00"), "finetuning_norm": ("-", "#0072B2")}
    # Labels, markers, and offsets in γ, so that bars are seen apart.
    solvers = {"descent": ("gradient descent", "o", -0.006), "exact": ("exact limit", "x", 0.006)}
    risk = data["risk"]
    only(risk, "target_norm")  # raises if there are several, since they must not be averaged
    table = averages(transferability(risk, "finetuning"), ("solver", "depth", "noise", "angle", "gamma"))
    depths, noises = sorted(table["depth"].unique()), sorted(table["noise"].unique())
    size = (2.5 * len(noises) + 0.9, 1.9 * len(depths) + 1.4)
    fig, axes = plt.subplots(len(depths), len(noises), figsize=size, sharex=True, sharey=True, squeeze=False)
    for (depth, noise), ax in zip(product(depths, noises), axes.flat, strict=True):
        cell = table[(table["depth"] == depth) & (table["noise"] == noise) & (table["angle"] == RIGHT)]
        theory = at(data["theory"], depth=depth, noise=noise, angle=RIGHT).sel(gamma=slice(None, 1))
        for name, (style, color) in formulas.items():
            ax.plot(theory["gamma"], theory[name], style, color=color, label=FORMULAS[name])
        for solver, (label, marker, offset) in solvers.items():
            points = cell[cell["solver"] == solver]
            look = {"fmt": marker, "color": "k", "ms": 4, "linewidth": 1, "label": label}
            ax.errorbar(points["gamma"] + offset, points["mean"], 2 * points["sem"], **look)
        ax.set_title(f"L = {depth}, σ = {noise:g}")
    plt.setp(axes[:, 0], ylabel=GAIN)
    plt.setp(axes[-1], xlabel=GAMMA)
    shares = shares_in_words(table[(table["solver"] == "exact") & (table["depth"] > 1)], formulas)
    note = f"θ = {RIGHT:g} π, {panels.seeds_in_words(risk)}, bars: 2 s.e."
    return layout.finish(fig, p.title, note, f"exact limits at all angles, L > 1, within 2 s.e. of {shares}")


@plugins.figure(data=["risk"])
def regularised_scratch(data, p: Titled):
    """Linear transferability against scratch training without and with weight decay, chosen by the risk itself or by
    validation (Fig. 5).

    Role: `risk` of linear transfer, and of single-task learning with several strengths of weight decay. At γ = 1 there
    is no mean without weight decay: medians over draws and their quartiles are drawn.
    """
    choices = {None: "no weight decay", "validation_loss": "chosen by cross-validation",
               "risk_final": "chosen by the risk"}  # fmt: skip
    risk = data["risk"]
    fig, (*maps, slices) = plt.subplots(1, 4, figsize=(13.0, 3.8), width_ratios=(1, 1, 1, 1.1))
    colors = panels.colors("choice", list(choices))
    for ax, letter, (choice, label), color in zip(maps, "abc", choices.items(), colors, strict=True):
        runs = transferability(risk, "linear_transfer", with_decay(risk, choice))
        square = runs.pivot_table("transferability", "angle", "gamma", aggfunc="median")
        image = panels.gain_map(ax, square.columns, square.index, square, LARGEST)
        cut = square.clip(-LARGEST, LARGEST)
        ax.contour(square.columns, square.index, cut, levels=[0.0], colors="k", linewidths=1)
        ax.set(xlabel=GAMMA, title=f"{letter}: {label}")
        gains = runs[runs["angle"] == RIGHT].groupby("gamma")["transferability"]
        middle, low, high = (gains.quantile(share) for share in (0.5, 0.25, 0.75))
        look = {"fmt": "o--" if choice == "risk_final" else "o-", "ms": 3, "linewidth": 1, "color": color}
        panels.points(slices, middle.index, (middle, low, high), label, **look)
    maps[0].set_ylabel(ANGLE)
    fig.colorbar(image, ax=maps, label=f"{GAIN}, cut at ±{LARGEST:g}", location="bottom", shrink=0.5)
    slices.axhline(0, **layout.ZERO)
    slices.set(xlabel=GAMMA, ylabel=GAIN, ylim=(-1.1 * LARGEST, 1.1 * LARGEST), title=f"d: θ = {RIGHT:g} π")
    notes = f"σ = {only(risk, 'noise'):g}, {panels.seeds_in_words(risk)}", "medians over draws; bars in d: quartiles"
    return layout.finish(fig, p.title, *notes)


@plugins.figure(data=["risk"])
def ridge_transfer(data, p: Titled):
    """Ridge regression of the readout after linear transfer: risk against the penalty, and the best penalty against
    the number of samples (Fig. 6).

    Role: `risk` of linear transfer without and with ridge penalties, over angles and numbers of samples.
    """
    smallest = 1e-4  # where a penalty of 0 is drawn on the logarithmic axis
    risk = select_runs(data["risk"], protocol="linear_transfer")
    noise, sizes, ridges = only(risk, "noise"), panels.values(risk, "samples"), panels.values(risk, "ridge")
    frame = risk[["risk_final"]].to_dataframe()
    gammas = dict(zip(frame["samples"], frame["gamma"], strict=True))
    shown = min(sizes, key=lambda n: abs(np.log(gammas[n] / 0.5)))  # the paper has half a sample per dimension
    fig, (many, few, penalty) = plt.subplots(1, 3, figsize=(11.5, 4.0))
    angles = sorted(frame["angle"].unique())
    apart = np.linspace(0.93, 1.07, len(angles))  # factors on n in c, so that bars are seen
    fine = np.geomspace(smallest, ridges[-1], 200)
    for angle, color, factor in zip(angles, panels.colors("angle", angles), apart, strict=True):
        theta, points = np.pi * angle, {"fmt": "o", "ms": 3, "color": color}
        draws = frame[frame["angle"] == angle].pivot(index="seed", columns=["samples", "ridge"], values="risk_final")
        risks = draws[shown]
        many.errorbar(np.maximum(ridges, smallest), risks.mean(), risks.std(), label=f"θ = {angle:g} π", **points)

        # Risk less that without a penalty, seed by seed: much of what draws differ in is common to all penalties.
        change = draws[sizes[0]].sub(draws[sizes[0]][0.0], axis=0).drop(columns=0.0)
        few.errorbar(change.columns, change.mean(), 2 * change.sem(), **points)

        # Equation 125 for these numbers of samples, over a wide pale line for its limit, equation 13.
        wide = {"linewidth": 5, "alpha": 0.3, "label": "eq 13 (n → ∞)", "zorder": 1}
        thin = {"linewidth": 1, "label": "eq 125"}
        for counts, style in (((None, None), wide), ((shown, sizes[0]), thin)):
            theory_many, theory_few = (ridge_transfer_risk(theta, fine, n, noise) for n in counts)
            theory_change = theory_few - ridge_transfer_risk(theta, 0.0, counts[1], noise)
            many.semilogx(fine, theory_many, color=color, **style)
            few.semilogx(fine, theory_change, color=color, **style)

        found = [best(draws[n], generator("best ridge", "", 0, "bootstrap")) for n in sizes]
        panels.points(penalty, factor * np.array(sizes), np.maximum(np.transpose(found), smallest), **points)
        optimum = optimal_ridge(theta, noise, np.array(sizes))
        penalty.plot(sizes, optimum, "--", color=color, label="(sin²θ + σ²)/(n cos²θ)")
    a, b = (f"n = {n}, γ = {gammas[n]:g}" for n in (shown, sizes[0]))
    many.set(xlabel="ridge penalty λ (leftmost: 0)", ylabel="risk", title=f"a: {a}")
    few.axhline(0, **layout.ZERO)
    few.set(xlabel="ridge penalty λ", ylabel="risk less that at λ = 0", title=f"b: {b}", ylim=(-0.12, 0.25))
    penalty.set(xscale="log", yscale="log", xlabel="samples n", ylabel="best ridge penalty")
    penalty.set_title("c: best penalty by n")
    note = "bars: s.d. of draws in a, 2 s.e. in b, which is cut above, 95 % bootstrap intervals in c, 0 drawn at 10⁻⁴"
    return layout.finish(fig, p.title, f"σ = {noise:g}, {panels.seeds_in_words(risk)}", note, columns=3)


def best(table, rng):
    """The penalty with the smallest mean risk, and the lower and upper end of its 95 % bootstrap interval.

    `table` is a data frame of risks by draw (rows), which are resampled with replacement, and penalty (columns).
    """
    draws = rng.integers(len(table), size=(1000, len(table)))
    columns = table.columns.to_numpy()
    # (resamples, draws, penalties) risks -> mean over draws -> best penalty of each resample.
    low, high = np.quantile(columns[table.to_numpy()[draws].mean(1).argmin(1)], [0.025, 0.975])
    return columns[table.mean().argmin()], low, high


@plugins.figure(data=["diagram", "risk", "distances"])
def dataset_distances(data, p: Titled):
    """Transferability against distances between source and target distributions (Fig. 4).

    Roles: `diagram` of single-task and linearly transferred networks over samples and angles within π/2, `risk` of
    networks transferred to targets of several norms at any angle at one number of samples, `distances` of
    curves.transfer_distances for the angles and norms of these targets.
    """
    names = {"kl": "KL divergence", "wasserstein": "Wasserstein-1 distance", "dudley": "Dudley metric (never above 2)"}
    formulas = {"linear_transfer": "linear", "finetuning": "finetuning"}
    risk, distances = data["risk"], xr.broadcast(data["distances"])[0]  # all variables get the dimension of repeats
    distance, deviation = distances.mean("repeat"), distances.std("repeat")
    gamma, noise = only(risk, "gamma"), only(risk, "noise")
    fig, axes = plt.subplots(1 + len(formulas), len(names), figsize=(9.6, 8.7), sharey="row")
    # All points of the diagram of linear transfer, but those at γ = 1, where the risk from scratch has no mean.
    table = averages(transferability(select_runs(data["diagram"], noise=noise), "linear_transfer"), ("gamma", "angle"))
    table, at_norm_1 = table[table["gamma"] != 1], distance.sel(target_norm=1.0)
    table = table.assign(**{name: np.interp(table["angle"], at_norm_1["angle"], at_norm_1[name]) for name in names})
    for ax, name in zip(axes[0], names, strict=True):
        points = ax.scatter(table[name], table["mean"], c=table["gamma"], s=9, cmap="viridis", linewidths=0)
        for one_gamma, line in table.groupby("gamma"):
            ax.plot(line[name], line["mean"], color=points.to_rgba(one_gamma), linewidth=0.5)
    fig.colorbar(points, ax=list(axes[0]), label="samples per\ndimension γ")
    axes[0, 0].set_ylabel("transferability of\nlinear transfer, all γ")
    # Targets of several norms at one γ: filled points at angles up to π/2, open ones beyond.
    for row, (protocol, formula) in zip(axes[1:], formulas.items(), strict=True):
        table = averages(transferability(risk, protocol), ("target_norm", "angle"))
        colors = cycle(("#D55E00", "#0072B2", "#CC79A7"))
        for (norm, rows), color in zip(table.groupby("target_norm"), colors, strict=False):
            tasks = {"target_norm": norm, "angle": rows["angle"].to_numpy()}
            middle, spread, acute = at(distance, **tasks), at(deviation, **tasks), (rows["angle"] <= RIGHT).to_numpy()
            for ax, name in zip(row, names, strict=True):
                for kept, side, face in ((acute, "≤", color), (~acute, ">", "none")):
                    ax.errorbar(
                        middle[name][kept], rows["mean"][kept], rows["std"][kept], spread[name][kept],
                        fmt="o", ms=4, color=color, mfc=face, linewidth=0.8, label=f"norm {norm:g}, θ {side} π/2",
                    )  # fmt: skip
                ax.plot(middle[name], middle[formula], color=color, linewidth=0.8)
        row[0].set_ylabel(f"transferability of\n{panels.name(risk, 'protocol', protocol)}")
    for above, below, label in zip(*axes[1:], names.values(), strict=True):
        above.sharex(below)
        below.set_xlabel(label)
    for ax in axes.flat:
        ax.axhline(0, **layout.ZERO)
    least = panels.values(data["diagram"], "gamma")[0]
    notes = (
        f"σ = {noise:g}, {panels.seeds_in_words(risk)}",
        f"upper row: targets of norm 1 within a right angle, lines join those of one γ, which is {least:g} or more; at "
        "γ = 1 the risk from scratch has no mean",
        f"other rows: γ = {gamma:g}, lines: theory, bars: s.d. of draws and of samples",
    )
    return layout.finish(fig, p.title, *notes, columns=3)
