"""Tasks of shallow ReLU networks, the problem that solvers take, and pretraining on the auxiliary task."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from carryover.families import stages
from carryover.families.contract import Piece
from carryover.networks.relu import Weights
from carryover.streams import generator
from carryover.tasks import units
from carryover.tasks.sparse import sphere

MEANING = {
    "main_features": "teacher units of the main task",
    "correlation": "cosine between auxiliary units and those that belong to them; NaN where there are several",
    "unit_correlations": "cosine between each main unit and its auxiliary one",
    "magnitude": "factor on the main task's coefficients",
    "initial_scale": "scale of the weights from scratch; NaN for pretrained ones",
}


@dataclass(frozen=True)
class Teacher:
    """Directions (..., K, D) and coefficients (..., K) of f*(x) = Σ_k c_k relu(v_k · x)."""

    directions: np.ndarray
    readout: np.ndarray

    def __call__(self, X):
        """f* (..., n) at inputs X (..., n, D)."""
        return Weights(self.directions, self.readout[..., None, :]).outputs(X)[..., 0]

    def units(self, run):
        """Directions (k, D) and coefficients (k,) of those that a run's teacher has: others only fill up the array."""
        nonzero = self.readout[run] != 0
        return self.directions[run][nonzero], self.readout[run][nonzero]


@dataclass(frozen=True)
class Problem:
    """An ensemble of networks to be trained.

    Inputs are shared by the runs of a seed: `sets[r]` is the row of X that run r learns from. Targets are its own.
    """

    X: list  # per output: (sets, samples, D)
    y: list  # per output: (runs, samples)
    sets: np.ndarray  # (runs,)
    start: Weights  # first (runs, H, D), second (runs, outputs, H)
    teacher: Teacher  # of output 0, (runs, K, D) and (runs, K)
    shuffles: Callable  # run -> generator of the order of its samples


def problems(p, shard):
    """One network per seed, trained on its auxiliary task."""
    seeds, experiment, outputs = shard.seeds, shard.experiment, ("auxiliary",)
    directions = np.stack([teachers(p, experiment, seed, np.zeros(0))[0] for seed in seeds])
    unit_signs = [signs(p, experiment, seed, p.auxiliary_features) for seed in seeds]
    coefficients = np.stack([units.coefficients(s, p.auxiliary_features, p.auxiliary_norm) for s in unit_signs])
    teacher = Teacher(directions, coefficients)
    X = np.stack([auxiliary_data(p, experiment, seed, p.samples) for seed in seeds])
    y = labels(teacher(X)) if p.loss == "cross_entropy" else teacher(X)
    start = small_weights(p, experiment, seeds, outputs, p.initial_scale)
    problem = Problem(
        [X], [y], np.arange(len(seeds)), start, teacher,
        lambda run: generator(experiment, "", seeds[run], "auxiliary order"),
    )  # fmt: skip
    yield Piece(problem, {"seed": seeds}, partial(variables, problem, teacher), MEANING, outputs)


def variables(problem, auxiliary, trained):
    """Variables of networks and of the tasks that they and their pretraining learn, Teachers (runs, …)."""
    first, second = ("run", "unit", "input"), ("run", "output", "unit")
    single = {
        "first": (first, trained.weights.first, "input weights"),
        "second": (second, trained.weights.second, "readout weights"),
        "start_first": (first, problem.start.first, "input weights before training"),
        "start_second": (second, problem.start.second, "readout weights before training"),
        **_teacher("teacher", problem.teacher, "task that is learned"),
        **_teacher("auxiliary", auxiliary, "auxiliary task"),
    }
    return {**stages.single(single), **stages.of_training(trained)}


def _teacher(name, teacher, what):
    return {
        f"{name}_directions": (("run", f"{name}_unit", "input"), teacher.directions, f"unit vectors of the {what}"),
        f"{name}_readout": (("run", f"{name}_unit"), teacher.readout, f"coefficients of the {what}"),
    }


def auxiliary_data(p, experiment, seed, samples):
    """Inputs (samples, D) of the auxiliary task."""
    return sphere(generator(experiment, "", seed, "auxiliary inputs"), samples, p.dimension)


def teachers(p, experiment, seed, cosines):
    """(auxiliary, main) Teacher directions and the signs of a seed, for main units at given cosines."""
    rng = generator(experiment, "", seed, "teacher")
    return units.teachers(rng, p.dimension, p.auxiliary_features, cosines, p.directions)


def signs(p, experiment, seed, count):
    """±1 for each teacher unit of a seed; a shared unit has the same sign in both tasks."""
    return units.signs(generator(experiment, "", seed, "signs"), count)


def labels(targets):
    """Their signs ±1; −1 where they are 0, as on all inputs that none of the teacher's units responds to."""
    return np.where(targets > 0, 1.0, -1.0)


def small_weights(p, experiment, seeds, outputs, scale):
    """Networks as at the start of training from scratch: both layers N(0, scale² · 2/fan-in), one network a seed."""
    first, second = [], []
    for seed in seeds:
        rng = generator(experiment, "", seed, "weights")
        first.append(rng.standard_normal((p.width, p.dimension)) * scale * np.sqrt(2 / p.dimension))
        second.append(readout(p, experiment, seed, outputs, scale))
    return Weights(np.stack(first), np.stack(second))


def readout(p, experiment, seed, outputs, scale):
    """(outputs, H) readout weights N(0, scale² · 2/width) of the tasks named in `outputs`.

    Each task has numbers of its own, so that a redrawn main readout is independent of what pretraining started from.
    """
    drawn = [generator(experiment, "", seed, f"{name} readout").standard_normal(p.width) for name in outputs]
    return np.stack(drawn) * scale * np.sqrt(2 / p.width)
