"""Pretraining of toys."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.toy import task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("exact", "how it is solved", choices=("exact",), axis=True)
    samples: int = parameter(20, "source samples", minimum=1)


def problems(p, shard):
    X = np.stack([task.inputs(p, shard.experiment, seed, "source inputs", p.samples) for seed in shard.seeds])
    teacher = np.stack([task.teacher(p, shard.experiment, seed) for seed in shard.seeds])
    problem = task.Problem(X, teacher, np.zeros_like(teacher))
    yield Piece(problem, {"seed": shard.seeds}, partial(task.variables, problem))
