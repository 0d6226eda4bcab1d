"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many
both share (Fig. 8d of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.convnets import by_task, most_common
from carryover.figures.drawing import convnet, layout, panels
from carryover.runs import where

AFTER, BEFORE = "participation_ratio", "participation_ratio_start"
# {quantity: (title, label, level of a line across the panel, largest value that there can be)}
PANELS = {
    AFTER: ("a  Dimensions before and after", "participation ratio (PR)", None, np.inf),
    "ensd": ("b  Dimensions that both share", "shared dimensions (ENSD)", None, np.inf),
    "accuracy": ("c  Test accuracy", convnet.ACCURACY, None, 100.0),
    "change": ("d  Change by finetuning", "PR after / PR before", 1, np.inf),
    "inherited": ("e  Shared over remaining dimensions", "ENSD / PR after", 1, np.inf),
    "cka": ("f  Similarity of before and after", "centred kernel alignment (CKA)", None, 1.0),
}


def draw(data, p):
    """Panels a–f, by stage in the order of the network, a line for each factor, and a dotted one for each further
    learning rate. Roles: `stages` and `risk` of one experiment."""
    every, risk = (where(data[role], protocol="finetuning") for role in ("stages", "risk"))
    usual = most_common(every, "learning_rate")
    every = every.assign(change=every[AFTER] / every[BEFORE], inherited=every["ensd"] / every[AFTER])
    stages, risk = (where(runs, learning_rate=usual) for runs in (every, risk))
    factors = panels.values(stages, "rescale")
    rates = [rate for rate in panels.values(every, "learning_rate") if rate != usual]
    # (label, runs, shift along the axis, style) of every curve
    curves = [("after, as it is" if factor == 1 else f"after, rescaled by {factor:g}", runs,
               0.07 * (place - (len(factors) - 1) / 2), {"color": color})
              for place, (factor, runs, color) in enumerate(panels.colored(stages, "rescale"))]  # fmt: skip
    reds = plt.get_cmap("Reds")(np.linspace(0.5, 0.9, len(rates)))
    curves += [(f"after, learning rate × {rate / usual:g}", where(every, learning_rate=rate), 0,
                {"color": color, "linestyle": ":"}) for rate, color in zip(rates, reds, strict=True)]  # fmt: skip
    fig, axes = plt.subplots(2, 3, figsize=(11.0, 6.8))
    first = where(stages, rescale=factors[0])
    _by_stage(axes[0, 0], first, BEFORE, 0, "before finetuning", color="k", linestyle="--")
    for ax, (quantity, (title, label, level, most)) in zip(axes.flat, PANELS.items(), strict=True):
        ax.set(title=title, ylabel=label)
        if level is not None:
            ax.axhline(level, color="0.3", linewidth=0.8)
        if quantity != "accuracy":
            for name, runs, shift, style in curves:
                _by_stage(ax, runs, quantity, shift, name, most, **style)
            continue
        for factor, runs, color in panels.colored(risk, "rescale"):
            convnet.points(ax, [factor], [convnet.accuracy(runs)], None, (0.0, most), color=color)
        layout.name_values(ax, risk, "rescale")
        ax.set_xlabel("factor on the weights before finetuning")
    axes[0, 1].sharey(axes[0, 0])
    axes[0, 0].set_ylim(bottom=0)
    notes = convnet.system(risk).replace("\n", ", "), convnet.units(stages), convnet.INTERVALS
    return layout.finish(fig, p.title, *notes, columns=3)


def _by_stage(ax, runs, quantity, shift, label, most=np.inf, **style):
    names = runs["stage"].values
    tables = [by_task(runs.sel(stage=name), quantity) for name in names]
    convnet.points(ax, np.arange(len(names)) + shift, tables, label, (0.0, most), **style)
    ax.set_xticks(range(len(names)), [name.removeprefix("stage") for name in names])
    ax.set_xlabel("stage")
