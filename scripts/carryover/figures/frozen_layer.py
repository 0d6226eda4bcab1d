"""Networks whose first layers are frozen beside finetuned ones and those from scratch ("Finetuning with linear
teachers", Fig. 3 and theorem 5.5)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.transferability import only
from carryover.figures.drawing import layout, log_axes, markers, panels
from carryover.theory.linear_teachers import gaussian_bound
from carryover.theory.transfer import linear_transfer_risk

PROTOCOLS = {"single_task": "from scratch (vanilla)", "finetuning": "finetuned", "linear_transfer": "frozen"}
MARKERS = ("s", "D", "v", "^")
SHIFT = 1.13  # between markers that would hide each other


def draw(data, p):
    """Roles: `risk` of two layers, pretrained exactly and by descent; `layers`, of more, of which several are frozen.

    Neither has label noise, and the tasks of each have one angle.
    """
    risk, layers = data["risk"], data["layers"]
    theta = np.pi * only(risk, "angle")
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.0), sharey=True)
    scratch = panels.chosen(risk, protocol="single_task")
    for ax, start, words in zip(axes, ("exact", "descent"), ("vanishing", "larger"), strict=False):
        _panel(ax, risk.isel(run=scratch | panels.chosen(risk, pretrain_solver=start)), p, start)
        ax.set_title(f"{'ab'[start == 'descent']}: 2 layers, pretrained from {words} weights")
    _panel(axes[2], layers, p, "exact")
    axes[2].set_title(f"c: {int(layers['depth'].values[0])} layers, the first k frozen")
    _theory(axes[0], risk, theta, p)
    axes[0].set_ylabel("risk")
    return layout.finished(fig, p.title, *markers.notes(risk), columns=4)


def _panel(ax, risk, p, start):
    """Every protocol: exact limits as lines, and what was trained as markers."""
    for protocol, label in PROTOCOLS.items():
        runs = panels.where(risk, protocol=protocol)
        runs = runs.assign(risk_final=runs["risk_final"].clip(min=p.floor))
        color, solvers = panels.color(protocol), set(runs["solver"].values.tolist())
        if "exact" in solvers and (protocol != "finetuning" or start == "exact"):  # only of balanced networks
            limit = panels.where(runs, solver="exact")
            limit = panels.where(limit, frozen=limit["frozen"].values.max())  # the same for any number of layers
            markers.solved(ax, limit, "risk_final", "samples", label, color=color)
        if "descent" in solvers:
            trained = panels.where(runs, solver="descent")
            _trained(ax, trained, label, color)
            if protocol == "finetuning" and start != "exact":  # no exact limit is known
                middle = trained[["risk_final"]].to_dataframe().groupby("samples")["risk_final"].median()
                ax.plot(middle.index, middle, color=color, linewidth=0.8, linestyle="--",
                        label="finetuned, gradient descent (b)")  # fmt: skip
        _below(ax, runs, p.floor)
    ax.set(yscale="log", xlabel="target samples n")
    log_axes.samples(ax, panels.values(risk, "samples"))


def _below(ax, runs, floor):
    """Arrows down where a median is drawn at the floor, so that it does not look like one of the data."""
    middle = runs[["risk_final"]].to_dataframe().groupby(["samples", "solver"])["risk_final"].median()
    samples = middle.index.get_level_values("samples")[middle <= floor].unique()
    if len(samples):
        ax.plot(samples, np.full(len(samples), 0.8 * floor), linestyle="none", marker="$\\downarrow$", ms=9, color="k",
                zorder=5, label=f"below {floor:g}")  # fmt: skip
        ax.set_ylim(bottom=0.68 * floor)


def _trained(ax, runs, label, color):
    """Markers of each number of frozen layers."""
    numbers = panels.values(runs, "frozen")
    for place, (frozen, marker) in enumerate(zip(numbers, MARKERS, strict=False)):
        words = f"{label}, gradient descent" if len(numbers) == 1 else f"k = {frozen:g} frozen, gradient descent"
        shift = SHIFT ** (place - (len(numbers) - 1) / 2)
        these = panels.where(runs, frozen=frozen)
        markers.trained(ax, these, "risk_final", "samples", words, shift, color=color, marker=marker)


def _theory(ax, risk, theta, p):
    """Mean risks: of one finetuned layer, and of the multiple of the source that fits the samples best."""
    n, d = np.unique(risk["samples"].values), round(float((risk["samples"] / risk["gamma"]).values[0]))
    source, target = np.eye(d)[0], np.cos(theta) * np.eye(d)[0] + np.sin(theta) * np.eye(d)[1]
    below, enough = n[n <= d], n[n > 2]
    mean = gaussian_bound(source, target, below, 0.0).clip(min=p.floor)
    ax.plot(below, mean, "k--", linewidth=1, label="one finetuned layer, mean (eq 10 at ε = 0)")
    fitted = linear_transfer_risk(theta, 0.0, enough)
    ax.plot(enough, fitted, "k:", linewidth=1, label="multiple of the source fitted to n samples, mean")
