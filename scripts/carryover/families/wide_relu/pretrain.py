"""Pretraining of wide ReLU networks on samples of the linear source task."""

from functools import partial

import numpy as np

from carryover.families.contract import Piece
from carryover.families.wide_relu import task


def problems(p, shard):
    """One network per seed."""
    seeds, experiment = shard.seeds, shard.experiment
    problem = task.Problem(
        start=task.initial(p, experiment, seeds),
        networks=np.arange(len(seeds)),
        X=np.stack([task.inputs(p, experiment, seed, "source inputs", p.samples) for seed in seeds]),
        teacher=np.stack([task.teacher(p, experiment, seed) for seed in seeds]),
    )
    yield Piece(problem, {"seed": seeds, "loss_function": "squared"}, partial(task.pretrained, problem.teacher))
