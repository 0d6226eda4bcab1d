"""Whether convolutional networks are finetuned better with their weights rescaled before (Fig. 7 of feature reuse)."""

from textwrap import fill

import matplotlib.pyplot as plt

from carryover.claims.convnets import by_classes, most_common
from carryover.figures.drawing import convnet, layout, panels
from carryover.runs import chosen, where

# Curves (protocol, whether rescaled) and their places beside one another; MTL is one point, apart from the others.
CURVES = {("finetuning", False): -2, ("finetuning", True): -1, ("single_task", False): 0, ("single_task", True): 1,
          ("multi_task", False): 4, ("multi_task", True): 5}  # fmt: skip


def draw(data, p):
    """A column for each role, a `risk` dataset, and number of classes that its tasks tell apart: test accuracy, and
    below it what the factor gains, against samples.

    Of several learning rates the usual one is shown. Gains are differences between runs of the same seed, task and
    samples.
    """
    systems = [runs for role, risk in data.items() for runs in by_classes(role, risk).values()]
    size = (max(7.0, 2.5 * len(systems) + 0.8), 5.6)
    fig, axes = plt.subplots(2, len(systems), figsize=size, sharex="col", squeeze=False)
    for (above, below), risk in zip(axes.T, systems, strict=True):
        runs = where(risk, learning_rate=most_common(risk, "learning_rate"), rescaled="all")
        if above is not axes[0, 0]:
            above.sharey(axes[0, 0])
        classes = len(str(runs["target_classes"].values[0]).split())
        above.axhline(100 / classes, color="0.3", linestyle=":", linewidth=1, label="chance")
        for curve in CURVES:
            _accuracies(above, runs, *curve, p.rescale)
        below.axhline(0, color="0.3", linewidth=0.8)
        for protocol, place, width in (("finetuning", -1, 1.6), ("single_task", 1, 0.9)):
            look = {"color": panels.COLORS[protocol], "lw": width}
            sizes, x = _places(runs, protocol, p.rescale, place)
            gains = [convnet.gain(runs, p.rescale, protocol=protocol, samples=n) for n in sizes]
            if sizes:
                convnet.points(below, x, gains, panels.name(runs, "protocol", protocol), **look)
        lines = convnet.system(runs).replace(", ", ",\n").splitlines()  # columns are narrow
        words = "\n".join(fill(line, 28) for line in lines)
        above.set_title(f"{words}\n({convnet.units(runs)})", fontsize="small")
        below.set_xlabel("training images of the task")
        layout.name_ticks(below, panels.values(where(runs, protocol="finetuning"), "samples"), 2)
    axes[0, 0].set(ylabel=convnet.ACCURACY, ylim=(0, 103))
    axes[1, 0].set_ylabel(f"gain by the factor {p.rescale:g}\n(percentage points, paired)")
    return layout.finish(fig, p.title, convnet.INTERVALS, *convnet.crossed(fig), "scales of gains differ")


def _accuracies(ax, runs, protocol, rescaled, rescale):
    factor = rescale if rescaled else 1.0
    sizes, x = _places(runs, protocol, factor, CURVES[protocol, rescaled])
    by_size = [where(runs, protocol=protocol, rescale=factor, samples=n) for n in sizes]
    label = panels.name(runs, "protocol", protocol) + (f", rescaled by {rescale:g}" if rescaled else "")
    look = {"linestyle": "--", "mfc": "white"} if rescaled else {}
    look |= {"color": panels.COLORS[protocol], "lw": 1.6 if protocol == "finetuning" else 0.9}
    if sizes:
        convnet.points(ax, x, [convnet.accuracy(part) for part in by_size], label, convnet.PERCENT, by_size, **look)


def _places(runs, protocol, rescale, place):
    """Numbers of samples that runs have, and where the points of a curve stand beside those of others."""
    sizes = panels.values(runs.isel(run=chosen(runs, protocol=protocol, rescale=rescale)), "samples")
    return sizes, [n * 2 ** (0.07 * place) for n in sizes]
