"""Pretraining of shallow ReLU networks on the auxiliary task."""

from functools import partial

import numpy as np

from carryover.families.contract import Piece
from carryover.families.relu import task
from carryover.streams import generator
from carryover.tasks import units

OUTPUTS = ("auxiliary",)


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment = shard.seeds, shard.experiment
    directions = np.stack([task.teachers(p, experiment, seed, np.zeros(0))[0] for seed in seeds])
    signs = [task.signs(p, experiment, seed, p.auxiliary_features) for seed in seeds]
    readout = np.stack([units.coefficients(s, p.auxiliary_features, p.auxiliary_norm) for s in signs])
    teacher = task.Teacher(directions, readout)
    X = np.stack([task.auxiliary_data(p, experiment, seed, p.samples) for seed in seeds])
    y = teacher(X)
    y = task.labels(y) if p.loss == "cross_entropy" else y
    start = task.small_weights(p, experiment, seeds, OUTPUTS, p.initial_scale)
    problem = task.Problem(
        [X], [y], np.arange(len(seeds)), start, teacher,
        lambda run: generator(experiment, "", seeds[run], "auxiliary order"),
    )  # fmt: skip
    variables = partial(task.variables, problem, teacher)
    yield Piece(problem, {"seed": seeds}, variables, task.MEANING, OUTPUTS)
