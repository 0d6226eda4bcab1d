"""The ensemble trainer of ReLU networks against the papers' loop over one."""

import numpy as np
from _plain import best_in_turns, refuse_difference, relu_network, row, sgd

from carryover.networks.relu import Weights
from carryover.training.relu import gradient_descent
from carryover.training.result import Samples

D, RATE, SCALE, ROUNDS = 15, 0.05, 0.1, 6
STEPS = 2000  # of the trainer, so that what it records along the way counts as little as in a real training
LOOP_STEPS = 100
# Width, samples, networks, times faster. So many networks, or half of them, are what the trainer takes at a time.
SETTINGS = ((200, 32, 17, 15), (200, 256, 8, 5), (1000, 256, 2, 3.5), (1000, 1024, 2, 2))


def ensemble(width, samples, networks):
    """A task with inputs of its own for each network, and the networks."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((networks, samples, D))
    y = np.maximum(X[:, :, :3], 0) @ np.array([1.0, -1.0, 1.0]) / np.sqrt(3)
    first, second = rng.standard_normal((networks, width, D)), rng.standard_normal((networks, 1, width))
    weights = Weights(SCALE * np.sqrt(2 / D) * first, SCALE * np.sqrt(2 / width) * second)
    return Samples(X, y, np.arange(networks)), weights


def compare(width, samples, networks, least, rounds=ROUNDS):
    """The row of one size."""
    task, weights = ensemble(width, samples, networks)
    parameters, loss = relu_network([task], weights)

    def trained(steps):
        return gradient_descent(
            [task], weights, learning_rate=RATE, tolerance=0, max_epochs=steps, device="cpu"
        ).weights

    found = trained(LOOP_STEPS)
    sgd(parameters, loss, RATE, LOOP_STEPS)
    for ours, theirs in zip((found.first[0], found.second[0]), parameters, strict=True):
        refuse_difference(ours, theirs.detach(), 1e-4, f"the trainer and the loop of {LOOP_STEPS} steps")
    loop, trainer = best_in_turns(rounds, lambda: sgd(parameters, loss, RATE, LOOP_STEPS), lambda: trained(STEPS))
    loop, trainer = loop / LOOP_STEPS, trainer / (STEPS * networks)
    detail = f"{D} inputs: {trainer * 1e6:.1f} µs a step of {networks} networks each, against {loop * 1e6:.1f} µs"
    return row(f"ReLU networks of width {width}, n = {samples}: network-steps", loop / trainer, least, detail)


def measure(smallest=False):
    """Four rows, in about half a minute."""
    for setting in SETTINGS[1:2] if smallest else SETTINGS:
        yield compare(*setting, rounds=1 if smallest else ROUNDS)
