"""Pretraining of wide ReLU networks on samples of the linear source task."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.wide_relu import dataset, task


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("descent", "gradient descent, or gradient flow, which descent follows with small steps",
                            choices=("descent", "flow"), axis=True)  # fmt: skip
    samples: int = parameter(500, "source samples n_S", minimum=1)
    learning_rate: float = parameter(10.0, "step of gradient descent on the mean squared error", above=0,
                                     when=task.DESCENT)  # fmt: skip
    tolerance: float = parameter(1e-6, "mean squared error at which training stops", above=0)
    max_steps: int = parameter(10_000, "most steps of descent, or gradient evaluations of the flow, two a step",
                               minimum=1)  # fmt: skip
    accuracy: float = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved",
                                above=0, maximum=1, when=task.FLOW)  # fmt: skip
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
