"""What the figures of convolutional networks share: names, tables of accuracies, and points with intervals."""

import numpy as np

from carryover.analysis.by_task import interval, table
from carryover.analysis.image_tasks import network_in_words, target_in_words
from carryover.figures.drawing import panels
from carryover.runs import where

PERCENT = 0.0, 100.0
INTERVALS = "means with 95 % t intervals over seeds"
DONE = 0.95
CROSS = f"×: fewer than {DONE:.0%} of the networks reached the training loss at which training stops"


def accuracy(runs, **condition):
    """Test accuracy in percent at some values of the coordinates, seeds by tasks."""
    return 100 * (1 - table(where(runs, **condition), "risk_final"))


def gain(runs, rescale, rescaled="all", **condition):
    """Percentage points of accuracy by a factor on part of the weights, of the same seed and task, seeds by tasks."""
    scaled = accuracy(runs, rescale=rescale, rescaled=rescaled, **condition)
    return scaled - accuracy(runs, rescale=1.0, rescaled="all", **condition)


def points(ax, x, tables, label, possible=(-np.inf, np.inf), **style):
    """The means of tables with their intervals, as far as there can be such values, at places x."""
    means, *ends = np.array([interval(one) for one in tables]).T
    ax.errorbar(x, means, yerr=abs(np.clip(ends, *possible) - means), label=label, **({"elinewidth": 1} | style))


def cross(ax, x, table, runs):
    """A cross behind the mean of a table where too few of its runs were trained to the end: see CROSS."""
    if runs["converged"].mean() < DONE:
        ax.plot(x, np.nanmean(table), "kx", markersize=11, zorder=1.5)


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
