"""Whether convolutional networks are finetuned better with their weights rescaled before (Fig. 7 of feature reuse)."""

from textwrap import fill

import matplotlib.pyplot as plt

from carryover.analysis.by_task import usual
from carryover.analysis.image_tasks import by_classes
from carryover.errors import UserError
from carryover.figures.drawing import convnet, layout, log_axes, panels
from carryover.runs import chosen, where

PROTOCOLS = ("finetuning", "single_task", "multi_task")
PLACES = (-2, -1, 0, 1, 4, 5)  # of their curves, without and with the factor; MTL is one point, apart from the others
NEEDED = ("protocol", "rescale", "rescaled", "learning_rate", "network", "source_classes", "target_classes")


def draw(data, p):
    """A column for each role, a `risk` dataset, and number of classes that its tasks tell apart: test accuracy, and
    below it what the factor gains, against samples.

    Of several learning rates the usual one is shown. Gains are differences between runs of the same seed, task and
    samples. Raises UserError where there is no role, or one has no such runs.
    """
    if not data:
        raise UserError("convnet_rescaling draws any risk datasets of convolutional networks, of which there is none.")
    for role, risk in data.items():
        if missing := [name for name in NEEDED if name not in risk.coords]:
            raise UserError(f"runs of the role {role} have no {missing[0]}: it is no risk of convolutional networks.")
    systems = [runs for role, risk in data.items() for runs in by_classes(role, risk).values()]
    size = (max(7.0, 2.5 * len(systems) + 0.8), 5.6)
    fig, axes = plt.subplots(2, len(systems), figsize=size, sharex="col", squeeze=False)
    for (above, below), risk in zip(axes.T, systems, strict=True):
        runs = where(risk, learning_rate=usual(risk, "learning_rate"), rescaled="all")
        if above is not axes[0, 0]:
            above.sharey(axes[0, 0])
        _accuracies(above, runs, p.rescale)
        below.axhline(0, color="0.3", linewidth=0.8)
        for place, protocol in enumerate(("finetuning", "single_task")):
            label, look = panels.name(runs, "protocol", protocol), {"lw": 1.6 - 0.7 * place}
            _along_samples(below, runs, convnet.gain, protocol, p.rescale, 2 * place - 1, label, **look)
        lines = convnet.system(runs).replace(", ", ",\n").splitlines()  # columns are narrow
        words = "\n".join(fill(line, 28) for line in lines)
        above.set_title(f"{words}\n({convnet.units(runs)})", fontsize="small")
        below.set_xlabel("training images of the task")
        log_axes.named(below, panels.values(where(runs, protocol="finetuning"), "samples"), 2)
    axes[0, 0].set(ylabel="test accuracy (%)", ylim=(0, 103))
    axes[1, 0].set_ylabel(f"gain by the factor {p.rescale:g}\n(percentage points, paired)")
    return layout.finish(fig, p.title, convnet.INTERVALS, *convnet.crossed(fig), "scales of gains differ")


def _accuracies(ax, runs, rescale):
    classes = len(str(runs["target_classes"].values[0]).split())
    ax.axhline(100 / classes, color="0.3", linestyle=":", linewidth=1, label="chance")
    curves = [(protocol, factor) for protocol in PROTOCOLS for factor in (1.0, rescale)]
    for place, (protocol, factor) in zip(PLACES, curves, strict=True):
        plain, first = factor == 1, protocol == "finetuning"
        label = panels.name(runs, "protocol", protocol) + ("" if plain else f", rescaled by {factor:g}")
        look = {"linestyle": "-" if plain else "--", "mfc": None if plain else "white", "lw": 1.6 if first else 0.9}
        look["possible"] = convnet.PERCENT
        tables = _along_samples(ax, runs, convnet.accuracy, protocol, factor, place, label, **look)
        for n, (x, accuracies) in tables.items():
            convnet.cross(ax, x, accuracies, where(runs, protocol=protocol, rescale=factor, samples=n))


def _along_samples(ax, runs, quantity, protocol, rescale, place, label, **look):
    """{samples: (x, table)} of the points of a protocol at a factor, which stand beside those of other curves."""
    sizes = panels.values(runs.isel(run=chosen(runs, protocol=protocol, rescale=rescale)), "samples")
    tables = [quantity(runs, rescale=rescale, protocol=protocol, samples=n) for n in sizes]
    places = [n * 2 ** (0.07 * place) for n in sizes]
    if tables:
        convnet.points(ax, places, tables, label, marker="o", color=panels.color(protocol), **look)
    return dict(zip(sizes, zip(places, tables, strict=True), strict=True))
