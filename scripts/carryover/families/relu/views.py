"""What runs have before they are trained: see `families.forecasts`."""

from carryover.families.forecasts import relu_view
from carryover.streams import generator

DRAWN = 2  # networks


def views(problem, p):
    """The readout that training grows is taken to be as large as each unit's input weights: without it the gradients of
    input weights would count nothing, for it starts near 0. Networks from scratch are drawn anew."""
    task, start = problem.tasks[0], problem.start
    shape = start.first.shape[1:]
    drawn = [generator("forecast", "relu", seed, "weights").standard_normal(shape) for seed in range(DRAWN)]
    for inputs, targets, first in zip(task.X[task.sets], task.y, start.first.astype(float), strict=True):
        yield relu_view(first, drawn, inputs, targets)
