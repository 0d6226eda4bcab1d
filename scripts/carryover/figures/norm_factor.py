"""Which formula finetuning of deep linear networks follows: eq 15 of "Features are fate", or that with the norm factor
of eq 5 of "Finetuning with linear teachers"; they differ at the order σ²."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.transferability import at, averages, only, transferability
from carryover.figures.drawing import layout, panels, shares

FORMULAS = {"finetuning": ("eq 15", "--", "#D55E00"), "finetuning_norm": ("eq 15 with the norm factor", "-", "#0072B2")}
SOLVERS = {"descent": ("gradient descent", "o"), "exact": ("exact limit", "x")}
OFFSETS = {"descent": -0.006, "exact": 0.006}  # in γ, so that bars are seen apart


def draw(data, p):
    """Roles: `risk` of finetuned and single-task networks of several depths and noises, `theory`."""
    risk = data["risk"]
    panels.where(risk, angle=p.angle)
    only(risk, "target_norm")
    table = averages(transferability(risk, "finetuning"), ("solver", "depth", "noise", "angle", "gamma"))
    depths, noises = sorted(table["depth"].unique()), sorted(table["noise"].unique())
    size = (2.5 * len(noises) + 0.9, 1.9 * len(depths) + 1.4)
    fig, axes = plt.subplots(len(depths), len(noises), figsize=size, sharex=True, sharey=True, squeeze=False)
    for row, depth in zip(axes, depths, strict=True):
        for ax, noise in zip(row, noises, strict=True):
            theory = at(data["theory"], depth=depth, noise=noise).interp(angle=p.angle)
            rows = table[(table["depth"] == depth) & (table["noise"] == noise) & np.isclose(table["angle"], p.angle)]
            _panel(ax, rows, theory)
            ax.set_title(f"L = {depth}, σ = {noise:g}")
    for ax in axes[-1]:
        ax.set_xlabel("samples per dimension γ")
    for ax in axes[:, 0]:
        ax.set_ylabel("transferability")
    deep = table[(table["solver"] == "exact") & (table["depth"] > 1)]
    labels = {name: label for name, (label, *_) in FORMULAS.items()}
    drawn = f"θ = {p.angle:g} π, {panels.seeds_in_words(risk)}, bars: 2 s.e."
    told = f"exact limits at all angles, L > 1, within 2 s.e. of {shares.in_words(deep, labels)}"
    return layout.finished(fig, p.title, drawn, told)


def _panel(ax, rows, theory):
    below = theory.where(theory["gamma"] < 1, drop=True)
    for name, (label, style, color) in FORMULAS.items():
        ax.plot(below["gamma"], below[name], style, color=color, label=label)
    for solver, (label, marker) in SOLVERS.items():
        points = rows[rows["solver"] == solver]
        ax.errorbar(
            points["gamma"] + OFFSETS[solver], points["mean"], 2 * points["error"],
            fmt=marker, color="k", ms=4, linewidth=1, label=label,
        )  # fmt: skip
