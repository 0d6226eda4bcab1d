"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many
both share (Fig. 8d of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis.by_task import table
from carryover.figures.drawing import convnet, layout, log_axes, panels

AFTER, BEFORE = "participation_ratio", "participation_ratio_start"

POSSIBLE, LEAST = {"cka": (0.0, 1.0)}, (0.0, np.inf)


def draw(data, p):
    """Panels a–f, by stage in the order of the network, a line for each factor. Roles: `stages` and `risk` of one
    experiment. Raises UserError where no network was finetuned."""
    stages, risk = (panels.where(data[role], protocol="finetuning") for role in ("stages", "risk"))
    stages = stages.assign(
        change=stages[AFTER] / stages[BEFORE],
        inherited=stages["ensd"] / stages[AFTER],
    )
    fig, axes = plt.subplots(2, 3, figsize=(11.0, 6.8))
    before, shared, accuracy, change, inherited, similar = axes.flat
    first = panels.where(stages, rescale=panels.values(stages, "rescale")[0])
    _line(before, first, BEFORE, 0, "before finetuning", color="k", linestyle="--")
    _by_factor(before, stages, AFTER)
    _by_factor(shared, stages, "ensd")
    _by_factor(change, stages, "change", 1)
    _by_factor(inherited, stages, "inherited", 1)
    _by_factor(similar, stages, "cka")
    _accuracies(accuracy, risk)
    shared.sharey(before)
    before.set_ylim(bottom=0)
    before.set(title="a  Dimensions before and after", ylabel="participation ratio (PR)")
    shared.set(title="b  Dimensions that both share", ylabel="shared dimensions (ENSD)")
    change.set(title="d  Change by finetuning", ylabel="PR after / PR before")
    inherited.set(title="e  Shared over remaining dimensions", ylabel="ENSD / PR after")
    similar.set(title="f  Similarity of before and after", ylabel="centred kernel alignment (CKA)")
    notes = convnet.system(risk).replace("\n", ", "), convnet.units(stages), convnet.INTERVALS
    return layout.finished(fig, p.title, *notes, columns=3)


def _by_factor(ax, stages, quantity, level=None):
    factors = panels.values(stages, "rescale")
    if level is not None:
        ax.axhline(level, color="0.3", linewidth=0.8)
    for place, (factor, runs, color) in enumerate(panels.colored(stages, "rescale")):
        shift = 0.07 * (place - (len(factors) - 1) / 2)
        label = f"after, rescaled by {factor:g}" if factor != 1 else "after, as it is"
        _line(ax, runs, quantity, shift, label, color=color)


def _line(ax, runs, quantity, shift, label, **style):
    names = runs["stage"].values
    tables = [table(runs.sel(stage=name), quantity) for name in names]
    places = [place + shift for place in range(len(names))]
    convnet.points(ax, places, tables, label, POSSIBLE.get(quantity, LEAST), marker="o", **style)
    ax.set_xticks(range(len(names)), names)


def _accuracies(ax, risk):
    """Panel c: test accuracy by factor."""
    for factor, runs, color in panels.colored(risk, "rescale"):
        convnet.points(ax, [factor], [convnet.accuracy(runs)], None, convnet.PERCENT, color=color, marker="o")
    log_axes.rescalings(ax, risk)
    ax.set(title="c  Test accuracy", ylabel="test accuracy (%)", xlabel="factor on the weights before finetuning")
