"""Pretraining of toys."""

import numpy as np

from carryover.families.contract import Piece
from carryover.families.toy import task


def problems(p, shard):
    X = np.stack([task.inputs(p, shard.experiment, seed, "source inputs", p.samples) for seed in shard.seeds])
    teacher = np.stack([task.teacher(p, shard.experiment, seed) for seed in shard.seeds])
    problem = task.Problem(X, teacher, np.zeros_like(teacher))
    yield Piece(problem, {"seed": shard.seeds}, task.variables)
