"""Pretraining of wide ReLU networks on samples of the linear source task."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.wide_relu import dataset, task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("descent", "how it is trained: gradient descent", choices=("descent",), axis=True)
    samples: int = parameter(500, "source samples n_S", minimum=1)
    learning_rate: float = parameter(10.0, "step of gradient descent on the mean squared error", above=0)
    tolerance: float = parameter(1e-6, "mean squared error at which training stops", above=0)
    max_steps: int = parameter(10_000, "most steps of a network", minimum=1)
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"))


def problems(p, shard):
    """One network per seed."""
    seeds, experiment = shard.seeds, shard.experiment
    problem = task.Problem(
        start=task.initial(p, experiment, seeds),
        networks=np.arange(len(seeds)),
        X=np.stack([task.inputs(p, experiment, seed, "source inputs", p.samples) for seed in seeds]),
        teacher=np.stack([task.teacher(p, experiment, seed) for seed in seeds]),
    )
    yield Piece(problem, {"seed": seeds, "loss_function": "squared"}, partial(dataset.pretrained, problem.teacher))
