"""What runs have before they are trained: see `families.forecasts`."""

import numpy as np

from carryover.families.forecasts import Start, View
from carryover.streams import generator

DRAWN = 2  # networks


def views(problem, p):
    """Yield the `View` of each run, before it is trained.

    Training moves the first layer only. It starts from the network's outputs, and its tangent kernel counts the units
    that are active at both inputs. Networks from scratch are drawn anew.
    """
    task, start = problem.task, problem.start
    shape = start.first.shape[1:]
    drawn = []
    for seed in range(DRAWN):
        rng = generator("forecast", "wide relu", seed, "weights")
        drawn.append(
            (p.initial_scale * rng.standard_normal(shape), rng.choice([-1.0, 1.0], shape[0]) / shape[0] ** 0.5)
        )
    for network, targets in zip(task.sets, task.y, strict=True):
        inputs = task.X[network]
        own = start.first[network].astype(float), start.second[network, 0].astype(float)
        fresh = [np.maximum(inputs @ first.T, 0) for first, _ in drawn]
        yield View(np.maximum(inputs @ own[0].T, 0), fresh, targets, _start(*own, inputs),
                   [_start(*network, inputs) for network in drawn])  # fmt: skip


def _start(first, second, inputs):
    """The start of a network (H, D), (H,) whose first layer alone is trained."""
    on = (inputs @ first.T > 0) * second
    return Start([(inputs @ inputs.T) * (on @ on.T)], np.maximum(inputs @ first.T, 0) @ second)
