"""A linear function of Gaussian inputs, and another one at an angle to it."""

from dataclasses import dataclass

import numpy as np

from carryover.families import stages
from carryover.streams import generator


@dataclass(frozen=True)
class Problem:
    X: np.ndarray  # (runs, n, D)
    teacher: np.ndarray  # (runs, D)
    start: np.ndarray  # (runs, D)

    @property
    def y(self):
        return (self.X @ self.teacher[..., None])[..., 0]


def teacher(p, experiment, seed, angle=0.0):
    source, other = np.linalg.qr(generator(experiment, "", seed, "teacher").standard_normal((p.dimension, 2)))[0].T
    return np.cos(angle) * source + np.sin(angle) * other


def inputs(p, experiment, seed, stream, samples):
    return generator(experiment, "", seed, stream).standard_normal((samples, p.dimension))


def variables(trained):
    coefficients = (("run", "input"), trained.weights, "coefficients of the function")
    return stages.of_training(trained) | {"coefficients": coefficients}
