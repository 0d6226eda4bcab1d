"""Pretraining of diagonal linear networks on the auxiliary task."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.diagonal import dataset, task

SIMULATED = {"solver": ("flow", "descent")}


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("exact", "exact limit, adaptive gradient flow, or plain gradient descent",
                            choices=("exact", "flow", "descent"), axis=True)  # fmt: skip
    samples: int = parameter(1024, "auxiliary samples", minimum=1)
    initial_scale: float = parameter(1e-3, "value of all four weight vectors at the start", above=0)
    loss: str = parameter("squared", "what gradient descent minimises; cross_entropy learns the signs of the targets",
                          choices=("squared", "cross_entropy"), when={"solver": ("descent",)})  # fmt: skip
    learning_rate: float = parameter(0.5, "step of gradient descent", above=0, when={"solver": ("descent",)})
    normalised: bool = parameter(False, "divide steps on cross-entropy by L max(1, log 1/L) of the training loss L: "
                                 "the margin grows by a share of itself", when={"solver": ("descent",)})  # fmt: skip
    tolerance: float = parameter(1e-10, "training loss at which training stops", above=0, when=SIMULATED)
    max_steps: int = parameter(1_000_000, "most gradient evaluations of a network", minimum=1, when=SIMULATED)
    accuracy: float = parameter(0.02, "error of one step of the adaptive flow in the logarithm of any weight", above=0,
                                when={"solver": ("flow",)})  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=SIMULATED)


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment = shard.seeds, shard.experiment
    X, y = zip(*(task.auxiliary_data(p, experiment, seed, p.samples) for seed in seeds), strict=True)
    teacher = np.stack([task.auxiliary_teacher(p, experiment, seed)[2] for seed in seeds])
    start = task.small_weights(len(seeds), 1, p.dimension, p.initial_scale)
    problem = task.Problem([np.stack(X)], [task.targets(p, np.stack(y))], np.arange(len(seeds)), start, teacher)
    kept = partial(dataset.variables, problem, teacher)
    yield Piece(problem, {"seed": seeds}, kept, dataset.MEANING, ("auxiliary",))
