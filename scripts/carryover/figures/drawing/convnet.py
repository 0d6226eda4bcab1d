"""What the figures of convolutional networks share: accuracies, gains, points with intervals, and runs in words."""

import numpy as np

from carryover.claims.convnets import by_task, interval, network_in_words, target_in_words
from carryover.figures.drawing import panels
from carryover.runs import where

PERCENT = 0.0, 100.0
INTERVALS = "means with 95 % t intervals over seeds"
ACCURACY, GAIN = "test accuracy (%)", "gain (percentage points)"
DONE = 0.95
CROSS = f"×: fewer than {DONE:.0%} of the networks reached the training loss at which training stops"


def accuracy(runs, **condition):
    """Test accuracy in percent at some values of the coordinates, seeds by tasks."""
    return 100 * (1 - by_task(where(runs, **condition), "risk_final"))


def gain(runs, rescale, rescaled="all", **condition):
    """Percentage points of accuracy by a factor on part of the weights, of the same seed and task, seeds by tasks."""
    scaled = accuracy(runs, rescale=rescale, rescaled=rescaled, **condition)
    return scaled - accuracy(runs, rescale=1.0, rescaled="all", **condition)


def points(ax, x, tables, label, possible=(-np.inf, np.inf), runs=(), **style):
    """The means of tables with their intervals, as far as there can be such values, at places x.

    Where `runs` are given for each, a cross stands behind those of which too few were trained to the end: see CROSS.
    """
    found = np.clip(np.transpose([interval(one) for one in tables]), *possible)
    panels.points(ax, x, found, label, **{"elinewidth": 1, "marker": "o"} | style)
    for place, mean, these in zip(x, found[0], runs, strict=False):
        _cross(ax, place, mean, these)


def gain_rows(ax, rows, label):
    """Gains with their intervals, one below the other: {name: (table, its runs, marker)}; squares are hollow."""
    ax.axvline(0, color="0.3", linewidth=0.8)
    for place, (gains, runs, marker) in enumerate(rows.values()):
        mean, *ends = interval(gains)
        color = panels.COLORS[str(runs["protocol"].values[0])]
        ax.plot(ends, [place, place], color=color, linewidth=1)
        ax.plot(mean, place, marker, color=color, markerfacecolor="none" if marker == "s" else color)
        _cross(ax, mean, place, runs)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel=label)


def _cross(ax, x, y, runs):
    if runs["converged"].mean() < DONE:
        ax.plot(x, y, "kx", markersize=11, zorder=1.5)


def crossed(figure):
    """[what a cross means] where one is drawn."""
    return [CROSS] if any(line.get_marker() == "x" for ax in figure.axes for line in ax.get_lines()) else []


def units(runs):
    """'3 seeds × 8 tasks': those of each."""
    tasks = len(panels.values(runs, "task"))
    return f"{panels.seeds_in_words(runs)} × {tasks} task" + ("s" if tasks > 1 else "")


def system(runs):
    """What finetuned runs are: the network, its target and its source, in words."""
    tuned = where(runs, protocol="finetuning")
    source = str(tuned["source_classes"].values[0])
    pretrained = f"pretrained on {len(source.split())} others" if source else "published weights"
    return f"{network_in_words(runs)}\n{target_in_words(tuned)}, {pretrained}"
