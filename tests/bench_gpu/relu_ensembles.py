"""Ensembles of ReLU networks, as jobs train them: from arrays to arrays."""

import numpy as np
from _times import row

from carryover.networks.relu import Weights
from carryover.training.relu import gradient_descent
from carryover.training.result import Task

DIMENSION, STEPS = 15, 20
SETTINGS = ((200, 256, 64), (1000, 1024, 16))  # width, samples, networks


def training(width, samples, networks):
    """By device, what trains such an ensemble there, with all samples in a step."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((networks, samples, DIMENSION))
    y = np.maximum(X[:, :, :3], 0) @ np.array([1.0, -1.0, 1.0]) / np.sqrt(3)
    first, second = rng.standard_normal((networks, width, DIMENSION)), rng.standard_normal((networks, 1, width))
    weights = Weights(0.1 * np.sqrt(2 / DIMENSION) * first, 0.1 * np.sqrt(2 / width) * second)
    task = Task(X, y, np.arange(networks))
    settings = {"learning_rate": 0.05, "tolerance": 0, "max_epochs": STEPS}

    def prepare(device):
        return lambda: int(gradient_descent([task], weights, device=device, **settings).evaluations.sum())

    return prepare


def measure(device, smallest=False):
    for width, samples, networks in ((20, 16, 4),) if smallest else SETTINGS:
        name = f"{networks} ReLU networks of width {width}, n = {samples}"
        yield row(name, training(width, samples, networks), device, "network-step")
