"""Networks whose first layers are frozen beside finetuned ones and those from scratch ("Finetuning with linear
teachers", Fig. 3 and theorem 5.5)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.runs import only
from carryover.figures.drawing import layout, panels
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
    risk, layers = (runs.assign(risk_final=runs["risk_final"].clip(min=FLOOR))
                    for runs in (data["risk"], data["layers"]))  # fmt: skip
    scratch = chosen(risk, protocol="single_task")
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.0), sharey=True)
    for ax, start, words in zip(axes, ("exact", "descent"), ("vanishing", "larger"), strict=False):
        _panel(ax, risk.isel(run=scratch | chosen(risk, pretrain_solver=start)), start)
        ax.set_title(f"{'a' if ax is axes[0] else 'b'}: 2 layers, pretrained from {words} weights")
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
    return layout.finish(fig, p.title, *panels.limits_and_trained_in_words(risk), columns=4)


def _panel(ax, risk, start):
    """Every protocol: exact limits as lines, and what was trained as markers; arrows down where a median is cut."""
    cut = []
    for protocol, label in PROTOCOLS.items():
        runs, color = where(risk, protocol=protocol), panels.COLORS[protocol]
        solved = protocol != "finetuning" or start == "exact"  # finetuned exactly: of balanced networks alone
        if solved and chosen(runs, solver="exact").any():
            limit = where(runs, solver="exact")
            limit = where(limit, frozen=limit["frozen"].values.max())  # the same for any number of layers
            panels.spread(ax, limit, "risk_final", "samples", label, color=color, marker="")
        if chosen(runs, solver="descent").any():
            trained = where(runs, solver="descent")
            numbers = panels.values(trained, "frozen")
            for place, (frozen, marker) in enumerate(zip(numbers, MARKERS, strict=False)):
                kind = f"k = {frozen:g} frozen" if len(numbers) > 1 else label
                shift, these = SHIFT ** (place - (len(numbers) - 1) / 2), where(trained, frozen=frozen)
                panels.trained(ax, these, "risk_final", "samples", f"{kind}, gradient descent", shift, color=color,
                               marker=marker)  # fmt: skip
            if not solved:
                middle, label = panels.medians(trained, "risk_final", "samples"), "finetuned, gradient descent (b)"
                ax.plot(middle.index, middle, color=color, linewidth=0.8, linestyle="--", label=label)
        middle = panels.medians(runs, "risk_final", ["samples", "solver"])
        cut += middle.index.get_level_values("samples")[middle <= FLOOR].tolist()
    if cut:
        arrows = {"linestyle": "none", "marker": "$\\downarrow$", "ms": 9, "color": "k", "zorder": 5}
        ax.plot(cut, np.full(len(cut), 0.8 * FLOOR), **arrows, label=f"below {FLOOR:g}")
        ax.set_ylim(bottom=0.68 * FLOOR)
    ax.set(yscale="log", xlabel="target samples n")
    layout.name_ticks(ax, panels.values(risk, "samples"), 2)
