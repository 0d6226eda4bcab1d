"""What rescaling a network pretrained on ImageNet gains, and every control beside it (Fig. 7 of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.convnets import most_common, target_in_words
from carryover.figures.drawing import convnet, layout, panels
from carryover.runs import where

RESCALE = 0.5  # factor that is compared with no rescaling in c
LEAST = -16.0  # left end of a and b, percentage points; smaller means are written


def draw(data, p):
    """Panels a–c. Roles: `pairs` and `sets`, networks finetuned with factors and at further learning rates, and from
    scratch; `sizes`, with and without the factor at other numbers of samples."""
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.2), width_ratios=(1, 1, 0.8))
    for ax, letter, role in zip(axes, "ab", ("pairs", "sets"), strict=False):
        samples = panels.values(data[role], "samples")[0]
        ax.set_title(f"{letter}  {target_in_words(data[role])}, n = {samples}\n({convnet.units(data[role])})")
        _rows(ax, data[role])
    _by_size(axes[2], data)
    order = "gains over the network as it is, in the order of the learning rate, times 1/factor²"
    return layout.finish(fig, p.title, convnet.INTERVALS, order, *convnet.crossed(fig))


def _rows(ax, risk):
    """Gain of every kind of run over those that are finetuned as they are."""
    usual = most_common(risk, "learning_rate")
    tuned, scratch = (where(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
    plain = where(tuned, rescale=1.0)
    kinds = [(factor**-2, f"rescaled by {factor:g}", where(tuned, rescale=factor), "o")
             for factor in panels.values(tuned, "rescale") if factor != 1]  # fmt: skip
    kinds += [(rate / usual, f"learning rate × {rate / usual:g}", where(plain, learning_rate=rate), "s")
              for rate in panels.values(plain, "learning_rate") if rate != usual]  # fmt: skip
    kinds = [*sorted(kinds, key=lambda kind: -kind[0]), (None, "from scratch", scratch, "o")]
    accuracy = convnet.accuracy(plain, learning_rate=usual)
    rows = {name: (convnet.accuracy(runs) - accuracy, runs, marker) for _, name, runs, marker in kinds}
    convnet.gain_rows(ax, rows, convnet.GAIN)
    # A factor with which nothing is learned would press all others together.
    means = [float(np.mean(gains)) for gains, *_ in rows.values()]
    ax.set_xlim(LEAST, None)
    ax.xaxis.set_major_locator(plt.MultipleLocator(5))
    for place, mean in enumerate(means):
        if mean < LEAST:
            ax.annotate(f"← {mean:.0f}".replace("-", "−"), (LEAST + 0.5, place), va="center")


def _by_size(ax, data):
    """Gain by the factor against the number of training images."""
    tables = {}
    for risk in (data["sizes"], data["pairs"]):
        tuned = where(risk, protocol="finetuning", learning_rate=most_common(risk, "learning_rate"))
        for samples in panels.values(tuned, "samples"):
            scaled, plain = (convnet.accuracy(tuned, samples=samples, rescale=factor) for factor in (RESCALE, 1.0))
            tables[samples] = scaled - plain
    sizes = sorted(tables)
    ax.axhline(0, color="0.3", linewidth=0.8)
    convnet.points(ax, np.array(sizes), [tables[n] for n in sizes], None, color=panels.COLORS["finetuning"])
    layout.name_ticks(ax, sizes)
    ax.set(xlabel="training images", ylabel=convnet.GAIN, title=f"c  Rescaled by {RESCALE:g}, 2 classes")
