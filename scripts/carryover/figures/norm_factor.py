"""Which formula finetuning of deep linear networks follows: eq 15 of "Features are fate", or that with the norm factor
of eq 5 of "Finetuning with linear teachers"; they differ at the order σ²."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.runs import only
from carryover.claims.support.transferability import at, transferability
from carryover.figures.drawing import layout, panels
from carryover.figures.drawing.transfer import shares_in_words
from carryover.statistics.averages import averages

ANGLE = 0.5  # between the tasks, in units of π
FORMULAS = {"finetuning": ("eq 15", "--", "#D55E00"), "finetuning_norm": ("eq 15 with the norm factor", "-", "#0072B2")}
SOLVERS = {"descent": ("gradient descent", "o", -0.006), "exact": ("exact limit", "x", 0.006)}
"""Labels, markers, and offsets in γ, so that bars are seen apart."""


def draw(data, p):
    """Roles: `risk` of finetuned and single-task networks of several depths and noises, `theory`."""
    risk = data["risk"]
    only(risk, "target_norm")
    table = averages(transferability(risk, "finetuning"), ("solver", "depth", "noise", "angle", "gamma"))
    depths, noises = sorted(table["depth"].unique()), sorted(table["noise"].unique())
    size = (2.5 * len(noises) + 0.9, 1.9 * len(depths) + 1.4)
    fig, axes = plt.subplots(len(depths), len(noises), figsize=size, sharex=True, sharey=True, squeeze=False)
    for row, depth in zip(axes, depths, strict=True):
        for ax, noise in zip(row, noises, strict=True):
            theory = at(data["theory"], depth=depth, noise=noise).interp(angle=ANGLE)
            below = theory.where(theory["gamma"] < 1, drop=True)
            for name, (label, style, color) in FORMULAS.items():
                ax.plot(below["gamma"], below[name], style, color=color, label=label)
            rows = table[(table["depth"] == depth) & (table["noise"] == noise) & np.isclose(table["angle"], ANGLE)]
            for solver, (label, marker, offset) in SOLVERS.items():
                points = rows[rows["solver"] == solver]
                look = {"fmt": marker, "color": "k", "ms": 4, "linewidth": 1, "label": label}
                ax.errorbar(points["gamma"] + offset, points["mean"], 2 * points["error"], **look)
            ax.set_title(f"L = {depth}, σ = {noise:g}")
        row[0].set_ylabel("transferability")
    for ax in axes[-1]:
        ax.set_xlabel("samples per dimension γ")
    deep = table[(table["solver"] == "exact") & (table["depth"] > 1)]
    within = shares_in_words(deep, {name: label for name, (label, *_) in FORMULAS.items()})
    note = f"θ = {ANGLE:g} π, {panels.seeds_in_words(risk)}, bars: 2 s.e."
    return layout.finish(fig, p.title, note, f"exact limits at all angles, L > 1, within 2 s.e. of {within}")
