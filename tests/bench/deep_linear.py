"""The trainer of deep linear networks against the papers' loop: one network, autograd, (X @ W1) @ W2, torch.optim.SGD.

Both have one thread, as jobs of the workflow have, and take turns; their time is the processor's.
"""

import time
from functools import cache

import numpy as np
import relu
import torch

from carryover.networks.deep_linear import Weights
from carryover.training import deep_linear
from carryover.training.deep_linear import gradient_descent, reduced
from carryover.training.devices import chunks
from carryover.training.linear_limits import Factored

D, RATE, SCALE = 500, 0.01, 1e-2
SETTINGS = ((50, 6), (500, 10), (1000, 15))  # samples, times faster
ROUNDS = 3  # turns of each
LEAST = 200  # steps of a network, so that what is prepared before them hardly counts


@cache
def problem(samples):
    """Inputs, labels, their teacher, the inputs' factors with the seconds these took, and the weights W_1 and W_2."""
    rng = np.random.default_rng(0)
    X, teacher = rng.standard_normal((samples, D)), rng.standard_normal(D) / np.sqrt(D)
    began = time.process_time()
    data = Factored.of(X)
    seconds = time.process_time() - began
    return X, X @ teacher, teacher, data, seconds, SCALE * rng.standard_normal((D, D)), SCALE * rng.standard_normal(D)


def tensors(samples):
    X, y, _, _, _, first, last = problem(samples)
    return [torch.tensor(values, dtype=torch.float32) for values in (X, y, first, last)]


def autograd(samples, steps):
    """Seconds of so many steps of the papers' loop, and β."""
    X, y, first, last = tensors(samples)
    layers = first.requires_grad_(), last[:, None].requires_grad_()
    optimiser = torch.optim.SGD(layers, lr=RATE)
    began = time.process_time()
    for _ in range(steps):
        optimiser.zero_grad()
        loss = ((X @ layers[0]) @ layers[1] - y[:, None]).square().mean() / 2
        loss.backward()
        optimiser.step()
    seconds = time.process_time() - began
    return seconds, (layers[0] @ layers[1])[:, 0].detach().numpy()


def trained(samples, steps, networks=1):
    """Seconds of so many steps of the trainer, beginning with the factors of the inputs, and β of every network."""
    _, y, teacher, data, _, first, last = problem(samples)
    alike = [np.broadcast_to(values, (networks, *values.shape)) for values in (first[None], last)]
    targets, sets = np.tile(data.targets(y), (networks, 1)), np.zeros(networks, dtype=int)
    settings = {"learning_rate": RATE, "tolerance": 0.0, "max_steps": steps, "checkpoints": 4, "device": "cpu"}

    def risk(_, beta):
        return ((beta - teacher) ** 2).sum(1)

    began = time.process_time()
    found = gradient_descent([data], targets, sets, Weights(*alike), risk=risk, **settings)
    return time.process_time() - began, found.weights.coefficients


def group(samples):
    """Networks that the trainer takes at a time."""
    _, _, _, data, _, first, last = problem(samples)
    _, matrices, readout = reduced([data], np.zeros(1, dtype=int), Weights(first[None, None], last[None]))
    size = sum(layer[0].size for layer in (*matrices, readout))
    return len(chunks(np.arange(1000), deep_linear._BYTES["cpu"] // (4 * size))[0])


def looped(_, samples, steps):
    return autograd(samples, steps)[0] / steps


def ensemble(_, samples, steps):
    networks = group(samples)
    each = max(-(-steps // networks), LEAST)
    return trained(samples, each, networks)[0] / (each * networks)


def agree(samples, steps=50):
    """Refuse to compare what does not compute the same."""
    expected, found = autograd(samples, steps)[1], trained(samples, steps)[1][0]
    difference = np.linalg.norm(found - expected) / np.linalg.norm(expected)
    if difference > 1e-4:
        raise AssertionError(f"the trainer and the loop differ by {difference:.1e} after {steps} steps")


def compare(samples, least, rounds=ROUNDS):
    """The row of one number of samples."""
    agree(samples)
    loop, trainer = relu.turns((looped, ensemble), D, samples, rounds)
    detail = (
        f"{relu.in_words(trainer)} a network-step in groups of {group(samples)}, against {relu.in_words(loop)}; once "
        f"for a set of inputs their factors take {problem(samples)[4]:.2f} s"
    )
    name = f"deep linear networks of two layers, d = {D}, n = {samples}: network-steps"
    return {"name": name, "ratio": loop / trainer, "at_least": least, "detail": detail}


def measure(smallest=False):
    """Three rows, in about half a minute."""
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield compare(*setting, rounds=1 if smallest else ROUNDS)
