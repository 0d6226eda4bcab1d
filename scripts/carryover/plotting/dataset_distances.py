"""Transferability against distances between source and target distributions ("Features are fate", Fig. 4)."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.transferability import at, averages, only, transferability
from carryover.config.parameters import parameter
from carryover.drawing import panels

DISTANCES = {
    "kl": "KL divergence",
    "wasserstein": "Wasserstein-1 distance",
    "dudley": "Dudley metric (never above 2)",
}
SOURCES = {"linear_transfer": "linear", "finetuning": "finetuning"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    title: str = parameter(
        "Distances between data sets predict transfer for targets of one norm within a right angle, and not beyond",
        "what is seen",
    )


def draw(data, p):
    """Roles: `risk` of single-task and transferred networks at one number of samples, `distances` of
    curves.transfer_distances for the same angles and norms of the target."""
    risk, distances = data["risk"], data["distances"]
    gamma, noise = only(risk, "gamma"), only(risk, "noise")
    fig, axes = plt.subplots(len(SOURCES), len(DISTANCES), figsize=(9.6, 6.4), sharey="row", sharex="col")
    for row, protocol in zip(axes, SOURCES, strict=True):
        table = averages(transferability(risk, protocol), ("target_norm", "angle"))
        for ax, distance in zip(row, DISTANCES, strict=True):
            _scatter(ax, table, distances, distance, SOURCES[protocol])
        row[0].set_ylabel(f"transferability of\n{panels.name(risk, 'protocol', protocol)}")
    for ax, label in zip(axes[-1], DISTANCES.values(), strict=True):
        ax.set_xlabel(label)
    drawn = "bars: s.d. of draws and of samples; lines: theory"
    return panels.finished(fig, p.title, f"γ = {gamma:g}, σ = {noise:g}, {panels.seeds_in_words(risk)}", drawn)


def _scatter(ax, table, distances, distance, formula):
    norms = sorted(table["target_norm"].unique())
    for norm, color in zip(norms, panels.colors("target_norm", norms), strict=True):
        rows = table[table["target_norm"] == norm]
        theory = at(distances, target_norm=norm, angle=rows["angle"].to_numpy())
        middle, spread = _over_repeats(theory[distance])
        for acute, face in ((True, color), (False, "none")):
            kept = (rows["angle"] <= 0.5).to_numpy() == acute
            label = f"norm {norm:g}, θ {'≤' if acute else '>'} π/2"
            ax.errorbar(
                middle[kept], rows["mean"][kept], rows["std"][kept], spread[kept],
                fmt="o", ms=4, color=color, mfc=face, linewidth=0.8, label=label,
            )  # fmt: skip
        ax.plot(middle, theory[formula], color=color, linewidth=0.8)
    ax.axhline(0, color="0.6", linewidth=0.6)


def _over_repeats(values):
    if "repeat" not in values.dims:
        return values.values, np.zeros(values.sizes["angle"])
    return values.mean("repeat").values, values.std("repeat").values
