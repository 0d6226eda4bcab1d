"""Transferability against distances between source and target distributions ("Features are fate", Fig. 4)."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.runs import only
from carryover.claims.support.transferability import at, transferability
from carryover.figures.drawing import layout, panels
from carryover.runs import where
from carryover.statistics.averages import averages

DISTANCES = {
    "kl": "KL divergence",
    "wasserstein": "Wasserstein-1 distance",
    "dudley": "Dudley metric (never above 2)",
}
FORMULAS = {"linear_transfer": "linear", "finetuning": "finetuning"}
NORMS = ("#D55E00", "#0072B2", "#CC79A7")
ZERO = {"color": "0.6", "linewidth": 0.6}


def draw(data, p):
    """Roles: `diagram` of single-task and linearly transferred networks over samples and angles within π/2, `risk` of
    networks transferred to targets of several norms at any angle at one number of samples, `distances` of
    curves.transfer_distances for the angles and norms of these targets."""
    risk, distances = data["risk"], data["distances"]
    gamma, noise = only(risk, "gamma"), only(risk, "noise")
    rows = len(FORMULAS) + 1
    fig, axes = plt.subplots(rows, len(DISTANCES), figsize=(9.6, 2.9 * rows), sharey="row")
    for middle, lowest in zip(axes[1], axes[2], strict=True):
        middle.sharex(lowest)
    # All points of the diagram of linear transfer, but those at γ = 1, where the risk from scratch has no mean.
    table = averages(transferability(where(data["diagram"], noise=noise), "linear_transfer"), ("gamma", "angle"))
    table, single = table[table["gamma"] != 1], distances.sel(target_norm=1.0)
    for ax, distance in zip(axes[0], DISTANCES, strict=True):
        place = np.interp(table["angle"], single["angle"], _over_repeats(single[distance])[0])
        points = ax.scatter(place, table["mean"], c=table["gamma"], s=9, cmap="viridis", linewidths=0)
        for one_gamma, line in table.assign(place=place).sort_values("angle").groupby("gamma"):
            ax.plot(line["place"], line["mean"], color=points.to_rgba(one_gamma), linewidth=0.5)
        ax.axhline(0, **ZERO)
    axes[0, 0].set_ylabel("transferability of\nlinear transfer, all γ")
    fig.colorbar(points, ax=list(axes[0]), label="samples per\ndimension γ")
    for row, (protocol, formula) in zip(axes[1:], FORMULAS.items(), strict=True):
        table = averages(transferability(risk, protocol), ("target_norm", "angle"))
        for ax, distance in zip(row, DISTANCES, strict=True):
            _scatter(ax, table, distances, distance, formula)
        row[0].set_ylabel(f"transferability of\n{panels.name(risk, 'protocol', protocol)}")
    for ax, label in zip(axes[-1], DISTANCES.values(), strict=True):
        ax.set_xlabel(label)
    least = panels.values(data["diagram"], "gamma")[0]
    notes = (
        f"σ = {noise:g}, {panels.seeds_in_words(risk)}",
        f"upper row: targets of norm 1 within a right angle, lines join those of one γ, which is {least:g} or more; at "
        "γ = 1 the risk from scratch has no mean",
        f"other rows: γ = {gamma:g}, lines: theory, bars: s.d. of draws and of samples",
    )
    return layout.finish(fig, p.title, *notes, columns=3)


def _scatter(ax, table, distances, distance, formula):
    """Means with deviations of draws, and of samples of the distance; hollow beyond a right angle."""
    for norm, color in zip(sorted(table["target_norm"].unique()), cycle(NORMS), strict=False):
        rows = table[table["target_norm"] == norm]
        theory = at(distances, target_norm=norm, angle=rows["angle"].to_numpy())
        middle, spread = _over_repeats(theory[distance])
        for side, face in (("≤", color), (">", "none")):
            here = (rows["angle"] <= 0.5).to_numpy() == (side == "≤")
            ax.errorbar(
                middle[here], rows["mean"][here], rows["std"][here], spread[here],
                fmt="o", ms=4, color=color, mfc=face, linewidth=0.8, label=f"norm {norm:g}, θ {side} π/2",
            )  # fmt: skip
        ax.plot(middle, theory[formula], color=color, linewidth=0.8)
    ax.axhline(0, **ZERO)


def _over_repeats(values):
    if "repeat" not in values.dims:
        return values.values, np.zeros(values.sizes["angle"])
    return values.mean("repeat").values, values.std("repeat").values
