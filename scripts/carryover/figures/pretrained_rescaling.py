"""What rescaling a network pretrained on ImageNet gains, and every control beside it (Fig. 7 of feature reuse)."""

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support.image_tasks import by_task, interval, most_common, target_in_words
from carryover.figures.drawing import convnet, layout, log_axes, panels
from carryover.runs import where

GAIN = "gain (percentage points)"


def draw(data, p):
    """Panels a–c. Roles: `pairs` and `sets`, networks finetuned with factors and at further learning rates, and from
    scratch; `sizes`, with and without the factor at other numbers of samples."""
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.2), width_ratios=(1, 1, 0.8))
    for ax, letter, role in zip(axes, "ab", ("pairs", "sets"), strict=False):
        samples = panels.values(data[role], "samples")[0]
        ax.set_title(f"{letter}  {target_in_words(data[role])}, n = {samples}\n({convnet.units(data[role])})")
        _rows(ax, data[role])
    _by_size(axes[2], data, p)
    order = "gains over the network as it is, in the order of the learning rate, times 1/factor²"
    return layout.finish(fig, p.title, convnet.INTERVALS, order, *convnet.crossed(fig))


def _rows(ax, risk):
    """Gain of every kind of run over those that are finetuned as they are, one below the other."""
    usual = most_common(risk, "learning_rate")
    tuned, scratch = (where(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
    plain = where(tuned, rescale=1.0)
    kinds = [(factor**-2, f"rescaled by {factor:g}", where(tuned, rescale=factor), "o")
             for factor in panels.values(tuned, "rescale") if factor != 1]  # fmt: skip
    kinds += [(rate / usual, f"learning rate × {rate / usual:g}", where(plain, learning_rate=rate), "s")
              for rate in panels.values(plain, "learning_rate") if rate != usual]  # fmt: skip
    kinds.sort(key=lambda kind: -kind[0])
    kinds.append((None, "from scratch", scratch, "o"))
    ax.axvline(0, color="0.3", linewidth=0.8)
    for place, (_, _, runs, marker) in enumerate(kinds):
        mean, *ends = interval(_gain(runs, where(plain, learning_rate=usual)))
        color = panels.color(str(runs["protocol"].values[0]))
        ax.plot(ends, [place, place], color=color, linewidth=1)
        ax.plot(mean, place, marker, color=color, markerfacecolor="none" if marker == "s" else color)
        if runs["converged"].mean() < convnet.DONE:
            ax.plot(mean, place, "kx", markersize=11, zorder=1.5)
    ax.set_yticks(range(len(kinds)), [name for _, name, *_ in kinds])
    ax.set(ylim=(len(kinds) - 0.5, -0.5), xlabel=GAIN)


def _by_size(ax, data, p):
    """Gain by the factor against the number of training images."""
    tables = {}
    for risk in (data["sizes"], data["pairs"]):
        tuned = where(risk, protocol="finetuning", learning_rate=most_common(risk, "learning_rate"))
        for samples, runs, _ in panels.colored(tuned, "samples"):
            tables[samples] = _gain(where(runs, rescale=p.rescale), where(runs, rescale=1.0))
    sizes = sorted(tables)
    ax.axhline(0, color="0.3", linewidth=0.8)
    color = panels.color("finetuning")
    convnet.points(ax, np.array(sizes), [tables[n] for n in sizes], None, color=color, marker="o")
    log_axes.named(ax, sizes)
    ax.set(xlabel="training images", ylabel=GAIN, title=f"c  Rescaled by {p.rescale:g}, 2 classes")


def _gain(runs, others):
    """Percentage points, seeds by tasks."""
    return 100 * (by_task(others, "risk_final") - by_task(runs, "risk_final"))
