"""Networks whose first layers are frozen beside finetuned ones and those from scratch ("Finetuning with linear
teachers", Fig. 3 and theorem 5.5)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.transferability import only
from carryover.figures.drawing import layout, log_axes, panels
from carryover.runs import chosen, where
from carryover.theory.linear_teachers import gaussian_bound
from carryover.theory.transfer import linear_transfer_risk

PROTOCOLS = {"single_task": "from scratch (vanilla)", "finetuning": "finetuned", "linear_transfer": "frozen"}
MARKERS = ("s", "D", "v", "^")
SHIFT = 1.13  # between markers that would hide each other

FLOOR = 1e-2  # smallest risk shown


def draw(data, p):
    """Roles: `risk` of two layers, pretrained exactly and by descent; `layers`, of more, of which several are frozen.

    Neither has label noise, and the tasks of each have one angle.
    """
    risk, layers = data["risk"], data["layers"]
    scratch = chosen(risk, protocol="single_task")
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.0), sharey=True)
    for ax, start, words in zip(axes, ("exact", "descent"), ("a: 2 layers, pretrained from vanishing weights",
                                "b: 2 layers, pretrained from larger weights"), strict=False):  # fmt: skip
        _panel(ax, risk.isel(run=scratch | chosen(risk, pretrain_solver=start)), start)
        ax.set_title(words)
    _panel(axes[2], layers, "exact")
    axes[2].set_title(f"c: {int(layers['depth'].values[0])} layers, the first k frozen")
    # Mean risks: of one finetuned layer, and of the multiple of the source that fits the samples best.
    theta, n = np.pi * only(risk, "angle"), np.unique(risk["samples"].values)
    d = round(float((risk["samples"] / risk["gamma"]).values[0]))
    source, target = np.eye(d)[0], np.cos(theta) * np.eye(d)[0] + np.sin(theta) * np.eye(d)[1]
    mean = gaussian_bound(source, target, n[n <= d], 0.0).clip(min=FLOOR)
    axes[0].plot(n[n <= d], mean, "k--", linewidth=1, label="one finetuned layer, mean (eq 10 at ε = 0)")
    fitted = linear_transfer_risk(theta, 0.0, n[n > 2])
    axes[0].plot(n[n > 2], fitted, "k:", linewidth=1, label="multiple of the source fitted to n samples, mean")
    axes[0].set_ylabel("risk")
    return layout.finish(fig, p.title, *panels.trained_and_solved_in_words(risk), columns=4)


def _panel(ax, risk, start):
    """Every protocol: exact limits as lines, and what was trained as markers; arrows down where a median is cut."""
    for protocol, label in PROTOCOLS.items():
        runs = where(risk, protocol=protocol)
        runs = runs.assign(risk_final=runs["risk_final"].clip(min=FLOOR))
        color, solvers = panels.color(protocol), set(runs["solver"].values.tolist())
        if "exact" in solvers and (protocol != "finetuning" or start == "exact"):  # only of balanced networks
            limit = where(runs, solver="exact")
            limit = where(limit, frozen=limit["frozen"].values.max())  # the same for any number of layers
            panels.solved(ax, limit, "risk_final", "samples", label, color=color)
        if "descent" in solvers:
            trained = where(runs, solver="descent")
            numbers = panels.values(trained, "frozen")
            for place, (frozen, marker) in enumerate(zip(numbers, MARKERS, strict=False)):
                kind = f"k = {frozen:g} frozen" if len(numbers) > 1 else label
                shift, these = SHIFT ** (place - (len(numbers) - 1) / 2), where(trained, frozen=frozen)
                panels.trained(ax, these, "risk_final", "samples", f"{kind}, gradient descent", shift, color=color,
                               marker=marker)  # fmt: skip
            if protocol == "finetuning" and start != "exact":  # no exact limit is known
                middle = trained[["risk_final"]].to_dataframe().groupby("samples")["risk_final"].median()
                ax.plot(middle.index, middle, color=color, linewidth=0.8, linestyle="--",
                        label="finetuned, gradient descent (b)")  # fmt: skip
        middle = runs[["risk_final"]].to_dataframe().groupby(["samples", "solver"])["risk_final"].median()
        if len(cut := middle.index.get_level_values("samples")[middle <= FLOOR].unique()):
            ax.plot(cut, np.full(len(cut), 0.8 * FLOOR), linestyle="none", marker="$\\downarrow$", ms=9, color="k",
                    zorder=5, label=f"below {FLOOR:g}")  # fmt: skip
            ax.set_ylim(bottom=0.68 * FLOOR)
    ax.set(yscale="log", xlabel="target samples n")
    log_axes.named(ax, panels.values(risk, "samples"), 2)
