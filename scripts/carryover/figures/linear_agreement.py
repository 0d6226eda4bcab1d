"""Deep linear networks as they are trained beside the exact limit (E1): where gradient descent arrives in the steps it
is given, that gradient flow closes the gap, and what early stopping does to transferability at n = d."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.agreement import distances
from carryover.claims.support.transferability import transferability
from carryover.figures.drawing import layout, panels
from carryover.runs import chosen, where

NEAR = 1e-3  # distance that counts as agreement
SOLVERS = {"descent": ("gradient descent", "k"), "balanced": ("flow of balanced networks", "#009E73")}


def draw(data, p):
    """Roles: `coefficients` and `risk` of one experiment solved and simulated."""
    distance, risk = distances(data["coefficients"]), data["risk"]
    protocols = panels.values(distance, "protocol")
    names = {protocol: panels.name(risk, "protocol", protocol) for protocol in protocols}
    size = (3.2 * len(protocols) + 0.8, 5.6)
    fig, axes = plt.subplots(2, len(protocols), figsize=size, sharex=True, squeeze=False)
    for ax, protocol in zip(axes[0], protocols, strict=True):
        ax.sharey(axes[0, 0])
        for solver, (label, color) in SOLVERS.items():
            if chosen(distance, protocol=protocol, solver=solver).any():
                shown = where(distance, protocol=protocol, solver=solver)
                panels.spread(ax, shown, "distance", "gamma", label, color=color)
        ax.axhline(NEAR, color="0.5", linestyle=":", label=f"agreement: below {NEAR:g}")
        ax.set(yscale="log", title=names[protocol])
    axes[0, 0].set_ylabel("relative distance from\nthe exact limit")

    # Median steps of gradient descent, hollow where some runs had used them up.
    steps = axes[1, 0]
    for protocol, shift in zip(protocols, np.linspace(-0.02, 0.02, len(protocols)), strict=True):
        runs, color = where(risk, protocol=protocol, solver="descent"), panels.COLORS[protocol]
        runs = runs.assign_coords(gamma=runs["gamma"] + shift)
        middle = panels.medians(runs, "evaluations", "gamma")
        steps.plot(middle.index, middle, color=color, label=f"steps, {names[protocol]}")
        panels.trained(steps, runs, "evaluations", "gamma", color=color)
    steps.set(yscale="log", ylabel="steps of gradient descent", title="steps")
    layout.plain_decades(steps.yaxis)

    # Transferability at the exact limit, and where gradient descent was stopped, of networks trained alike.
    for ax, protocol in zip(axes[1, 1:], [one for one in protocols if one != "single_task"], strict=True):
        runs = transferability(risk, protocol)
        for solver, label, color in (("exact", "exact limit", "#CC79A7"), ("descent", *SOLVERS["descent"])):
            seeds = runs[runs["solver"] == solver].groupby("gamma")["transferability"]
            median, look = seeds.median(), {"marker": "o", "color": color}
            panels.band(ax, median.index, median, seeds.min(), seeds.max(), label, **look)
        ax.axhline(0, color="0.6", linewidth=0.6)
        if runs["transferability"].abs().max() > 1:
            ax.set_yscale("symlog", linthresh=1.0)
        ax.set_title(f"{names[protocol]}: transferability")
    for ax in axes[1]:
        ax.set_xlabel("samples per dimension γ")
    hollow = "steps: hollow where some runs missed their tolerance"
    return layout.finish(fig, p.title, panels.spread_in_words(risk), hollow)
