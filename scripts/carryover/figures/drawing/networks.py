"""Accuracies and dimensions of convolutional networks, drawn as means over seeds.

`runs` are datasets over `run` with the error `risk_final`, a share of test images. Intervals are over seeds, of means
over tasks: runs of one seed share their pretraining.
"""

import numpy as np

from carryover.analysis.convnets import in_words
from carryover.figures.drawing import panels
from carryover.runs import select_runs

PERCENT = 0.0, 100.0
INTERVALS = "means with 95 % t intervals over seeds"
ACCURACY, GAIN = "test accuracy (%)", "gain (percentage points)"
DONE = 0.95
UNFINISHED = f"fewer than {DONE:.0%} of the networks reached the training loss at which training stops"


def accuracy_table(runs, *along):
    """Test accuracy in percent, means over tasks, by seed (rows) and values of coordinates (columns)."""
    errors = runs[["risk_final"]].to_dataframe().groupby(["seed", *along])["risk_final"].mean()
    return 100 * (1 - (errors.unstack(along) if along else errors))


def mean_points(ax, x, table, label=None, possible=(-np.inf, np.inf), **style):
    """Draw the means over seeds of a table at x, with intervals clipped to possible values; returns the means."""
    means = np.clip(panels.means(table), *possible)
    panels.points(ax, x, means, label, **{"elinewidth": 1, "marker": "o"} | style)
    return means[0]


def accuracies(ax, runs, along, label=None, shift=1.0, **style):
    """Draw accuracies along a coordinate times `shift`, with a cross where too few networks were trained to the end."""
    table = accuracy_table(runs, along)
    means = mean_points(ax, table.columns * shift, table, label, PERCENT, **style)
    for value, mean in zip(table.columns, means, strict=True):
        cross_unfinished(ax, value * shift, mean, select_runs(runs, **{along: value}))


def cross_unfinished(ax, x, y, runs):
    if runs["converged"].mean() < DONE:
        ax.plot(x, y, "kx", markersize=11, zorder=1.5, label=UNFINISHED)


def units_in_words(runs):
    """'3 seeds × 8 tasks': those of each."""
    tasks = len(panels.values(runs, "task"))
    return f"{panels.seeds_in_words(runs)} × {tasks} task" + ("s" if tasks > 1 else "")


def factor_in_words(factor):
    return "as it is" if factor == 1 else f"rescaled by {factor:g}"


def system_in_words(runs):
    """[network, target task, source of pretraining] of the finetuned runs, as text for labels and notes."""
    tuned = select_runs(runs, protocol="finetuning")
    source = str(tuned["source_classes"].values[0])
    pretrained = f"pretrained on {len(source.split())} others" if source else "published weights"
    return [*in_words(tuned), pretrained]


def by_stage(ax, runs, quantity, shift, label, most=np.inf, **style):
    """Draw a quantity (run, stage), up to `most`, by stage in the order of the network, shifted to be seen apart."""
    names = runs["stage"].values
    table = runs[quantity].to_dataframe().groupby(["seed", "stage"])[quantity].mean().unstack()[names]  # over tasks
    mean_points(ax, np.arange(len(names)) + shift, table, label, (0.0, most), **style)
    ax.set_xticks(range(len(names)), [name.removeprefix("stage") for name in names])
    ax.set_xlabel("stage")
