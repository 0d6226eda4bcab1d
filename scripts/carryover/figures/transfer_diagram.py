"""Transferability over data and overlap: theory as a surface, theory and networks as maps, slices with their spread
("Features are fate", Fig. 1, 2, 7 and 8)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.runs import only
from carryover.claims.support.transferability import at, predicted, transferability
from carryover.figures.drawing import layout, panels
from carryover.figures.drawing.transfer import shares_in_words
from carryover.runs import where
from carryover.statistics.averages import averages

FORMULAS = {
    "linear_transfer": {"linear": "eq 11"},
    "finetuning": {"finetuning_norm": "eq 15 with the norm factor", "finetuning": "eq 15"},
}
COUNTED = {"linear_transfer": {"linear_finite": "eq 8 less eq 10"}, "finetuning": {}}  # besides
STYLES = ("-", "--")
DEPTH = 2
LARGEST = 1.0  # transferability at which surface, maps and slices end
SLICES = (0.125, 0.25, 0.375)  # angles in units of π
GAMMA, ANGLE, GAIN = "samples per dimension γ", "angle θ / π", "transferability"


def draw(data, p):
    """Roles: `risk` of single-task and transferred deep linear networks, `theory` of curves.transferability."""
    runs = where(data["risk"], noise=p.noise, depth=DEPTH)
    table = averages(transferability(runs, p.protocol), ("angle", "gamma", "samples", "noise", "depth"))
    only(runs, "target_norm")
    theory = at(data["theory"], noise=p.noise, depth=DEPTH)
    first, *_ = formulas = FORMULAS[p.protocol]
    fig = plt.figure(figsize=(9.2, 7.6))
    surface = fig.add_subplot(2, 2, 1, projection="3d")
    expected, measured, slices = (fig.add_subplot(2, 2, i) for i in (2, 3, 4))

    # Seen along the spike at γ = 1, with the side before it on which gains are small: so nothing hides anything.
    grid = theory[first].transpose("angle", "gamma").values
    gamma, angle = theory["gamma"].values, theory["angle"].values
    colors = {"cmap": "RdBu", "vmin": -LARGEST, "vmax": LARGEST, "rasterized": True, "linewidth": 0}
    surface.plot_surface(*np.meshgrid(gamma, angle), grid.clip(-LARGEST, LARGEST), rstride=2, cstride=2, **colors)
    surface.set(xlabel="γ", ylabel=ANGLE, zlabel=GAIN, title="a: theory", ylim=(angle.max(), angle.min()))
    surface.view_init(30, -75)

    square = table.pivot(index="angle", columns="gamma", values="mean")
    solved = "exact limits" if set(runs["solver"].values) == {"exact"} else "trained networks"
    maps = ((expected, gamma, angle, grid, "b: theory"),
            (measured, square.columns, square.index, square.values, f"c: {solved}, mean over draws"))  # fmt: skip
    for ax, x, y, gains, title in maps:
        image = panels.gain_map(ax, x, y, gains, LARGEST)
        for boundary, style, label in zip(_boundaries(theory, p.protocol), STYLES, formulas.values(), strict=False):
            ax.plot(*boundary, style, color="k", label=f"no gain: {label}")
        ax.set(xlabel=GAMMA, ylabel=ANGLE, title=title, ylim=(0, 0.5), xlim=(0, 2.05))
    fig.colorbar(image, ax=[expected, measured], label=f"{GAIN}, cut at ±{LARGEST:g}", shrink=0.8)

    angles = table["angle"].unique()
    for number, (wanted, color) in enumerate(zip(SLICES, panels.colors("angle", SLICES), strict=True)):
        nearest = angles[np.abs(angles - wanted).argmin()]
        rows = table[(table["angle"] == nearest) & np.isfinite(predicted(first, table))]
        label = f"θ = {nearest:g} π"
        slices.errorbar(rows["gamma"], rows["mean"], rows["std"], fmt="o", ms=3, color=color, label=label)
        for (name, label), style in zip(formulas.items(), STYLES, strict=False):
            label = None if number else f"slices: {label}"
            slices.plot(gamma, theory[name].interp(angle=nearest), style, color=color, linewidth=1, label=label)
    slices.axhline(0, color="0.6", linewidth=0.6)
    slices.set(xlabel=GAMMA, ylabel=GAIN, ylim=(-1.1 * LARGEST, 1.1 * LARGEST), title="d: slices (bars: s.d. of draws)")
    within = shares_in_words(table, formulas | COUNTED[p.protocol])
    note = f"σ = {p.noise:g}, {panels.seeds_in_words(runs)}"
    return layout.finish(fig, p.title, note, f"means within 2 s.e. of {within}", columns=3)


def _boundaries(theory, protocol):
    """[(γ, θ/π)] along the boundaries of negative transfer, of each formula of a protocol; NaN between their parts."""
    if protocol == "finetuning":
        below = theory.where(theory["gamma"] < 1, drop=True)["gamma"].values
        bent = theory["finetuning_boundary"].sel(gamma=below).values
        return [(below, bent), (below, np.full(len(below), 1 / 3))]
    low, high, above = (theory[name].values for name in ("interval_low", "interval_high", "threshold"))
    angle, known = theory["angle"].values, np.isfinite(low)
    if theory["noise"] == 0:  # it loses on both sides of γ = 1
        return [(low, angle)]
    around = np.concatenate([low[known][::-1], high[known], [np.nan], above])
    return [(around, np.concatenate([angle[known][::-1], angle[known], [np.nan], angle]))]
