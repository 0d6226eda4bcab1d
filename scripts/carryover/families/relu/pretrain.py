"""Pretraining of shallow ReLU networks on the auxiliary task."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece
from carryover.families.relu import dataset, task
from carryover.streams import generator
from carryover.tasks import units

OUTPUTS = ("auxiliary",)


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    solver: str = parameter("descent", "gradient descent, or gradient flow, which descent follows with small steps",
                            choices=("descent", "flow"), axis=True)  # fmt: skip
    samples: int = parameter(1024, "auxiliary samples", minimum=1)
    initial_scale: float = parameter(1e-3, "both layers start from N(0, scale² · 2/fan-in)", above=0)
    loss: str = parameter("squared", "squared error, or cross-entropy on the sign of the teacher",
                          choices=("squared", "cross_entropy"))  # fmt: skip
    learning_rate: float = parameter(0.1, "step of gradient descent, cut where it diverges", above=0, when=task.DESCENT)
    batch_size: int = parameter(0, "samples in a step; 0 for all", minimum=0, when=task.DESCENT)
    tolerance: float = parameter(
        1e-8, "training loss at which training stops, as a fraction of that of a network whose outputs are 0", above=0
    )
    max_epochs: int = parameter(100_000, "most passes through the samples", minimum=1, when=task.DESCENT)
    max_steps: int = parameter(10_000, "most gradient evaluations of the flow, two a step", minimum=1, when=task.FLOW)
    accuracy: float = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved",
                                above=0, maximum=1, when=task.FLOW)  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"))


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
    kept = partial(dataset.variables, problem, teacher)
    yield Piece(problem, {"seed": seeds}, kept, dataset.MEANING, OUTPUTS)
