"""Pretraining of diagonal linear networks on the auxiliary task."""

from functools import partial

import numpy as np

from carryover.families.contract import Piece
from carryover.families.diagonal import task


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment = shard.seeds, shard.experiment
    X, y = zip(*(task.auxiliary_data(p, experiment, seed, p.samples) for seed in seeds), strict=True)
    teacher = np.stack([task.auxiliary_teacher(p, experiment, seed)[2] for seed in seeds])
    start = task.small_weights(len(seeds), 1, p.dimension, p.initial_scale)
    problem = task.Problem([np.stack(X)], [task.targets(p, np.stack(y))], np.arange(len(seeds)), start, teacher)
    variables = partial(task.variables, problem, teacher)
    yield Piece(problem, {"seed": seeds}, variables, task.MEANING, ("auxiliary",))
