"""Everything that learns the target task: the first layer, from the pretrained one or from scratch."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.config.parameters import parameter
from carryover.families.contract import Piece, crossed
from carryover.families.wide_relu import dataset, task
from carryover.networks.relu import Weights

PRETRAINED = ("finetuning",)
STARTS_FROM = {"protocol": PRETRAINED}


@dataclass(frozen=True, kw_only=True)
class Parameters(task.Parameters):
    protocol: str = parameter("finetuning", "finetuning trains the first layer of the pretrained network, single_task "
                              "that of one from scratch", choices=("finetuning", "single_task"), axis=True)  # fmt: skip
    solver: str = parameter("descent", "gradient descent, gradient flow, which descent follows with small steps, or "
                            "the limit of infinite width", choices=("descent", "flow", "exact"),
                            axis=True)  # fmt: skip
    samples: tuple[int, ...] = parameter((64,), "target samples n", minimum=1)
    distance: tuple[float, ...] = parameter((0.5,), "|θ_T − θ_S| between the unit vectors of target and source",
                                            minimum=0, maximum=2)  # fmt: skip
    test_samples: int = parameter(1000, "inputs on which absolute risk and the distance from the limit are measured",
                                  minimum=1)  # fmt: skip
    learning_rate: float = parameter(10.0, "step of gradient descent on the mean squared error, cut where it diverges",
                                     above=0, when=task.DESCENT)  # fmt: skip
    tolerance: float = parameter(1e-6, "mean squared error at which training stops", above=0, when=task.TRAINED)
    max_steps: int = parameter(10_000, "most steps of descent, or gradient evaluations of the flow, two a step",
                               minimum=1, when=task.TRAINED)  # fmt: skip
    accuracy: float = parameter(0.03, "error of one step of the flow in a unit, relative to how far it has moved",
                                above=0, maximum=1, when=task.FLOW)  # fmt: skip
    device: str = parameter("auto", "where it is trained", choices=("auto", "cpu", "cuda"), when=task.TRAINED)


def problems(p, shard):
    """A piece for each number of samples, with one run per seed and distance.

    Inputs depend on the seed alone, and fewer are part of more. Runs from scratch have the same targets as those of
    finetuning. Raises UserError for pretrained networks of other sizes.
    """
    seeds, experiment, pretrained = shard.seeds, shard.experiment, shard.pretrained
    shard.check_sizes({"width": ("unit", p.width), "dimension": ("input", p.dimension)})
    start = task.initial(p, experiment, seeds) if pretrained is None else _started(shard)
    networks, distance = crossed(network=range(len(seeds)), distance=p.distance).values()
    teacher = [task.teacher(p, experiment, seeds[k], d) for k, d in zip(networks.tolist(), distance, strict=True)]
    moved = np.stack(teacher)
    if pretrained is not None:
        moved = moved - np.stack([task.teacher(p, experiment, seed) for seed in seeds])[networks]
    tests = [task.inputs(p, experiment, seed, "test inputs", p.test_samples) for seed in seeds]
    for samples in p.samples:
        X = [task.inputs(p, experiment, seed, "inputs", samples) for seed in seeds]
        problem = task.Problem(start, networks, np.stack(X), np.stack(teacher), np.stack(tests))
        columns = {"seed": np.array(seeds)[networks], "distance": distance, "samples": samples}
        columns["loss_function"] = "squared"
        yield Piece(problem, columns, partial(dataset.finetuned, problem, moved), dataset.MEANING)


def _started(shard):
    """The pretrained networks of the seeds, in their order."""
    rows = shard.rows(seed=shard.seeds)
    first, second = (shard.pretrained[name].values[rows].astype(np.float64) for name in ("first", "second"))
    return Weights(first, second)
