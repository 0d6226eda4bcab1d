"""A linear function of Gaussian inputs that is learned in pretraining, and another one at an angle to it."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from carryover.families.stages import Batch, of_training
from carryover.streams import generator


@dataclass(frozen=True)
class Problem:
    X: np.ndarray  # (runs, n, D)
    teacher: np.ndarray  # (runs, D)
    start: np.ndarray  # (runs, D)

    @property
    def y(self):
        return (self.X @ self.teacher[..., None])[..., 0]


def problems(p, shard):
    X = shard.draw(Generator.standard_normal, "source inputs", (p.samples, p.dimension))
    teachers = np.stack([teacher(p, shard.experiment, seed) for seed in shard.seeds])
    problem = Problem(X, teachers, np.zeros_like(teachers))
    yield Batch(problem, {"seed": shard.seeds}, variables)


def teacher(p, experiment, seed, angle=0.0):
    source, other = np.linalg.qr(generator(experiment, "", seed, "teacher").standard_normal((p.dimension, 2)))[0].T
    return np.cos(angle) * source + np.sin(angle) * other


def variables(trained):
    coefficients = (("run", "input"), trained.weights, "coefficients of the function")
    return of_training(trained) | {"coefficients": coefficients}
