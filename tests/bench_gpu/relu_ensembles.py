"""Ensembles of ReLU networks, as jobs train them, by descent and by the flow: from arrays to arrays."""

from itertools import product

import numpy as np
from _times import row

from carryover.networks.relu import Weights
from carryover.training.relu import gradient_descent
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Samples

DIMENSION, STEPS = 15, 20
SETTINGS = ((200, 256, 64), (1000, 1024, 16))  # width, samples, networks
TRAINERS = {
    "descent": (gradient_descent, {"learning_rate": 0.05, "tolerance": 0, "max_epochs": STEPS}),
    "flow": (gradient_flow, {"tolerance": 0, "max_steps": 2 * STEPS}),  # two gradients a step
}


def training(trainer, width, samples, networks):
    """By device, what trains such an ensemble there, with all samples in a step."""
    train, settings = TRAINERS[trainer]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((networks, samples, DIMENSION))
    y = np.maximum(X[:, :, :3], 0) @ np.array([1.0, -1.0, 1.0]) / np.sqrt(3)
    first, second = rng.standard_normal((networks, width, DIMENSION)), rng.standard_normal((networks, 1, width))
    weights = Weights(0.1 * np.sqrt(2 / DIMENSION) * first, 0.1 * np.sqrt(2 / width) * second)
    task = Samples(X, y, np.arange(networks))

    def prepare(device):
        return lambda: int(train([task], weights, device=device, **settings).evaluations.sum())

    return prepare


def measure(device, smallest=False):
    for trainer, sizes in product(TRAINERS, ((20, 16, 4),) if smallest else SETTINGS):
        width, samples, networks = sizes
        name = f"{trainer} of {networks} ReLU networks of width {width}, n = {samples}"
        yield row(name, training(trainer, *sizes), device, "gradient of a network")
