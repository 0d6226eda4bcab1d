"""What runs have before they are trained: see `families.forecasts`."""

from carryover.families.forecasts import relu_view
from carryover.streams import generator

DRAWN = 2  # networks


def views(problem, p):
    """Yield the `View` of each run, before it is trained: of its pretrained units, and of networks drawn anew.

    `relu_view` replaces the readout, which starts near 0, by one as large as the units' input weights.
    """
    task, start = problem.tasks[0], problem.start
    shape = start.first.shape[1:]
    drawn = [generator("forecast", "relu", seed, "weights").standard_normal(shape) for seed in range(DRAWN)]
    for inputs, targets, first in zip(task.X[task.sets], task.y, start.first.astype(float), strict=True):
        yield relu_view(first, drawn, inputs, targets)
