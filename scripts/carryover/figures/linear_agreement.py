"""Deep linear networks as they are trained beside the exact limit (E1): where gradient descent arrives in the steps it
is given, that gradient flow closes the gap, and what early stopping does to transferability at n = d."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.agreement import distances
from carryover.analysis.transferability import transferability
from carryover.errors import UserError
from carryover.figures.drawing import layout, log_axes, panels

SOLVERS = {
    "descent": ("gradient descent", "k"),
    "balanced": ("flow of balanced networks", "#009E73"),
}


def draw(data, p):
    """Roles: `coefficients` and `risk` of one experiment solved and simulated."""
    distance, risk = distances(data["coefficients"]), data["risk"]
    if not distance.sizes["run"]:
        raise UserError("there are no simulated runs beside the exact ones.")
    protocols = panels.values(distance, "protocol")
    size = (3.2 * len(protocols) + 0.8, 5.6)
    fig, axes = plt.subplots(2, len(protocols), figsize=size, sharex=True, squeeze=False)
    for ax in axes[0, 1:]:
        ax.sharey(axes[0, 0])
    for above, protocol in zip(axes[0], protocols, strict=True):
        shown = panels.where(distance, protocol=protocol)
        for solver, (label, color) in SOLVERS.items():
            if (shown["solver"].values == solver).any():
                panels.spread(above, panels.where(shown, solver=solver), "distance", "gamma", label, color=color)
        above.axhline(p.near, color="0.5", linestyle=":", label=f"agreement: below {p.near:g}")
        above.set(yscale="log", title=panels.name(risk, "protocol", protocol))
    _steps(axes[1, 0], risk, protocols)
    transferred = [protocol for protocol in protocols if protocol != "single_task"]
    for ax, protocol in zip(axes[1, 1:], transferred, strict=True):
        _gains(ax, risk, protocol)
        ax.set_title(f"{panels.name(risk, 'protocol', protocol)}: transferability")
    axes[0, 0].set_ylabel("relative distance from\nthe exact limit")
    for ax in axes[1]:
        ax.set_xlabel("samples per dimension γ")
    return layout.finished(
        fig,
        p.title,
        panels.spread_in_words(risk),
        "steps: hollow where some runs missed their tolerance",
    )


def _steps(ax, risk, protocols):
    """Median steps of gradient descent, hollow where some runs had used them up."""
    for protocol, shift in zip(protocols, np.linspace(-0.02, 0.02, len(protocols)), strict=True):
        table = panels.where(risk, protocol=protocol, solver="descent")[["converged", "evaluations"]].to_dataframe()
        runs, color = table.groupby("gamma"), panels.color(protocol)
        steps, done = runs["evaluations"].median(), runs["converged"].min() == 1
        ax.plot(steps.index + shift, steps, color=color, label=f"steps, {panels.name(risk, 'protocol', protocol)}")
        for which, face in ((done, color), (~done, "white")):
            ax.plot(steps.index[which] + shift, steps[which], "o", ms=5, color=color, mfc=face)
    ax.set(yscale="log", ylabel="steps of gradient descent", title="steps")
    log_axes.plain_decades(ax.yaxis)


def _gains(ax, risk, protocol):
    """Transferability at the exact limit, and where gradient descent was stopped, of networks trained alike."""
    runs = transferability(risk, protocol)
    for solver, label, color in (("exact", "exact limit", "#CC79A7"), ("descent", *SOLVERS["descent"])):
        seeds = runs[runs["solver"] == solver].groupby("gamma")["transferability"]
        panels.band(ax, seeds.median().index, seeds.median(), seeds.min(), seeds.max(), label, marker="o", color=color)
    ax.axhline(0, color="0.6", linewidth=0.6)
    if runs["transferability"].abs().max() > 1:
        ax.set_yscale("symlog", linthresh=1.0)
