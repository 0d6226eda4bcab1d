"""Tasks of shallow ReLU networks, the problem that solvers take, and pretraining on the auxiliary task.

`p` are the stage's parameters, `shard` is a `stages.Shard`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator

from carryover.families.stages import Batch, Variables, of_training, single_precision
from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.tasks import units
from carryover.tasks.sparse import magnitude, sphere
from carryover.training.result import Samples

MEANING = {
    "main_features": "teacher units of the main task",
    "correlation": "cosine between auxiliary units and those that belong to them; NaN where there are several",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
    "sign_sum": "absolute sum of the signs of the main task's coefficients",
    "initial_scale": "scale of the weights from scratch; NaN for pretrained ones",
}


@dataclass(frozen=True)
class Problem:
    """An ensemble of networks to be trained; inputs are shared by the runs of a seed."""

    tasks: list[Samples]  # one per output
    start: Weights  # first (runs, H, D), second (runs, outputs, H)
    teacher: Weights  # of output 0, first (runs, K, D) and second (runs, 1, K)
    shuffles: Callable  # run -> generator of the order of its samples


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment, outputs = shard.seeds, shard.experiment, ("auxiliary",)
    teacher = Weights.stack([teachers(p, experiment, seed, np.zeros(0))[0] for seed in seeds])
    X = shard.draw(sphere, "auxiliary inputs", p.samples, p.dimension)
    start = small_weights(p, shard, outputs, p.initial_scale)
    if p.layer_ratio:  # of E|w|² = 2 scale² and E a² = 2 scale²/width: factors that keep the sum and set |w|/|a|
        readout = np.sqrt((1 + p.width) / (1 + p.layer_ratio**2))
        start = Weights(p.layer_ratio * readout / np.sqrt(p.width) * start.first, readout * start.second)
    problem = Problem(
        [task(p, X, teacher, np.arange(len(seeds)))], start, teacher,
        lambda run: generator(experiment, "", seeds[run], "auxiliary order"),
    )  # fmt: skip
    yield Batch(problem, {"seed": seeds}, partial(variables, problem, teacher), MEANING, outputs)


def variables(problem, auxiliary, trained):
    """`Variables` of the networks of a `Trained`, of their task, and of the `auxiliary` one, `Weights` (runs, …)."""
    first, second = ("run", "unit", "input"), ("run", "output", "unit")
    single: Variables = {
        "first": (first, trained.weights.first, "input weights"),
        "second": (second, trained.weights.second, "readout weights"),
        "start_first": (first, problem.start.first, "input weights before training"),
        "start_second": (second, problem.start.second, "readout weights before training"),
    }
    for name, teacher, what in (
        ("teacher", problem.teacher, "task that is learned"), ("auxiliary", auxiliary, "auxiliary task")
    ):  # fmt: skip
        unit = ("run", f"{name}_unit")
        single[f"{name}_directions"] = ((*unit, "input"), teacher.first, f"unit vectors of the {what}")
        single[f"{name}_readout"] = (unit, teacher.second[:, 0], f"coefficients of the {what}")
    return {**single_precision(single), **of_training(trained)}


def teachers(p, experiment, seed, cosines):
    """Of a seed: its auxiliary teacher, `Weights` of K units, and directions (k, D) of a main teacher, whose unit i has
    the i-th of the `cosines` (k,) with auxiliary unit i, with the signs (max(K, k),) of both. A shared unit has the
    same sign in both tasks."""
    rng = generator(experiment, "", seed, "teacher")
    auxiliary, main = units.teachers(rng, p.dimension, p.auxiliary_features, cosines, p.directions)
    rng = generator(experiment, "", seed, "signs")
    signs = units.signs(rng, max(p.auxiliary_features, len(cosines)), p.signs)
    coefficients = signs[: p.auxiliary_features] * magnitude(p.auxiliary_features, p.auxiliary_norm)
    return Weights(auxiliary, coefficients[None]), main, signs


def task(p, X, teacher, sets):
    """What runs learn from inputs X (sets, n, D), each from its set (runs,): the outputs of its teacher (runs, …), or
    their signs where the loss is cross-entropy, −1 where no unit of the teacher responds."""
    y = teacher.outputs(X[sets])[..., 0]
    return Samples(X, np.where(y > 0, 1.0, -1.0) if p.loss == "cross_entropy" else y, sets)


def small_weights(p, shard, outputs, scale):
    """Networks as at the start of training from scratch: both layers N(0, scale² · 2/fan-in), one network a seed."""
    first = shard.draw(Generator.standard_normal, "weights", (p.width, p.dimension))
    return Weights(first * scale * np.sqrt(2 / p.dimension), readouts(p, shard, outputs, scale))


def readouts(p, shard, outputs, scale):
    """(seeds, outputs, H) readout weights N(0, scale² · 2/width) of the tasks named in `outputs`.

    Each task has numbers of its own, so that a redrawn main readout is independent of what pretraining started from.
    """
    drawn = [shard.draw(Generator.standard_normal, f"{name} readout", p.width) for name in outputs]
    return np.stack(drawn, axis=1) * scale * np.sqrt(2 / p.width)
