"""Transferability over data and overlap: theory as a surface, theory and networks as maps, slices with their spread
("Features are fate", Fig. 1, 2, 7 and 8)."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import TwoSlopeNorm

from carryover.analysis.transferability import at, averages, only, predicted, transferability
from carryover.figures.drawing import layout, panels, shares

FORMULAS = {
    "linear_transfer": {"linear": "eq 11"},
    "finetuning": {"finetuning_norm": "eq 15 with the norm factor", "finetuning": "eq 15"},
}
COUNTED = {"linear_finite": "eq 8 less eq 10"}  # besides
STYLES = ("-", "--")
GAMMA, ANGLE, GAIN = "samples per dimension γ", "angle θ / π", "transferability"


def draw(data, p):
    """Roles: `risk` of single-task and transferred deep linear networks, `theory` of curves.transferability."""
    runs = panels.where(data["risk"], noise=p.noise, depth=p.depth)
    table = averages(transferability(runs, p.protocol), ("angle", "gamma", "samples", "noise", "depth"))
    only(runs, "target_norm")
    theory = at(data["theory"], noise=p.noise, depth=p.depth)
    fig = plt.figure(figsize=(9.2, 7.6))
    surface = fig.add_subplot(2, 2, 1, projection="3d")
    expected, measured, slices = (fig.add_subplot(2, 2, i) for i in (2, 3, 4))
    formula = next(iter(FORMULAS[p.protocol]))
    _surface(surface, theory, formula, p.largest)
    grid = theory[formula].transpose("angle", "gamma")
    _map(expected, theory["gamma"], theory["angle"], grid, theory, p, "b: theory")
    square = table.pivot(index="angle", columns="gamma", values="mean")
    solved = "exact limits" if set(runs["solver"].values) == {"exact"} else "trained networks"
    image = _map(measured, square.columns, square.index, square.values, theory, p, f"c: {solved}, mean over draws")
    fig.colorbar(image, ax=[expected, measured], label=f"{GAIN}, cut at ±{p.largest:g}", shrink=0.8)
    _slices(slices, table, theory, p)
    formulas = FORMULAS[p.protocol] | (COUNTED if p.protocol == "linear_transfer" else {})
    notes = (
        f"σ = {p.noise:g}, {panels.seeds_in_words(runs)}",
        f"means within 2 s.e. of {shares.in_words(table, formulas)}",
    )
    return layout.finished(fig, p.title, *notes, columns=3)


def _surface(ax, theory, formula, largest):
    """Seen along the spike at γ = 1, with the side before it on which gains are small: so nothing hides anything."""
    gamma, angle = np.meshgrid(theory["gamma"], theory["angle"])
    height = np.clip(theory[formula].transpose("angle", "gamma").values, -largest, largest)
    style = {"cmap": "RdBu", "norm": _norm(largest), "linewidth": 0, "rasterized": True}  # else SVG has a path a cell
    ax.plot_surface(gamma, angle, height, rstride=2, cstride=2, **style)
    ax.set(xlabel="γ", ylabel=ANGLE, zlabel=GAIN, title="a: theory", ylim=(angle.max(), angle.min()))
    ax.view_init(30, -75)


def _norm(largest):
    return TwoSlopeNorm(0.0, -largest, largest)


def _map(ax, gamma, angle, values, theory, p, title):
    cut = np.clip(values, -p.largest, p.largest)
    image = ax.pcolormesh(gamma, angle, cut, cmap="RdBu", norm=_norm(p.largest), rasterized=True)
    for (gammas, angles), style, label in zip(_boundaries(theory, p.protocol), STYLES, FORMULAS[p.protocol].values(),
                                              strict=False):  # fmt: skip
        ax.plot(gammas, angles, style, color="k", label=f"no gain: {label}")
    ax.set(xlabel=GAMMA, ylabel=ANGLE, title=title, ylim=(0, 0.5), xlim=(0, 2.05))
    ax.grid(False)
    return image


def _boundaries(theory, protocol):
    """[(γ, θ/π)] along the boundaries of negative transfer, of each formula of a protocol; NaN between their parts."""
    gap = [np.nan]
    if protocol == "finetuning":
        below = theory.where(theory["gamma"] < 1, drop=True)["gamma"].values
        bent = theory["finetuning_boundary"].sel(gamma=below).values
        return [(below, bent), (below, np.full(len(below), 1 / 3))]
    low, high, above = (theory[name].values for name in ("interval_low", "interval_high", "threshold"))
    angle, known = theory["angle"].values, np.isfinite(low)
    if theory["noise"] == 0:  # it loses on both sides of γ = 1
        return [(low, angle)]
    around = np.concatenate([low[known][::-1], high[known], gap, above])
    return [(around, np.concatenate([angle[known][::-1], angle[known], gap, angle]))]


def _slices(ax, table, theory, p):
    for number, (angle, color) in enumerate(zip(p.slices, panels.colors("angle", p.slices), strict=True)):
        nearest = table["angle"].unique()[np.abs(table["angle"].unique() - angle).argmin()]
        rows = table[(table["angle"] == nearest) & np.isfinite(predicted(next(iter(FORMULAS[p.protocol])), table))]
        ax.errorbar(rows["gamma"], rows["mean"], rows["std"], fmt="o", ms=3, color=color, label=f"θ = {nearest:g} π")
        for (name, label), style in zip(FORMULAS[p.protocol].items(), STYLES, strict=False):
            curve = theory[name].interp(angle=nearest)
            told = None if number else f"slices: {label}"
            ax.plot(theory["gamma"], curve, style, color=color, linewidth=1, label=told)
    ax.axhline(0, color="0.6", linewidth=0.6)
    ax.set(xlabel=GAMMA, ylabel=GAIN, ylim=(-1.1 * p.largest, 1.1 * p.largest), title="d: slices (bars: s.d. of draws)")
