"""The trainer of deep linear networks against the papers' loop: one network, (X @ W1) @ W2."""

import time

import numpy as np
import torch
from _plain import best_in_turns, refuse_difference, row, sgd

from carryover.networks.deep_linear import Weights
from carryover.training.deep_linear import gradient_descent
from carryover.training.linear_flow import Factored

D, RATE, SCALE, ROUNDS = 500, 0.01, 1e-2, 3
SETTINGS = ((50, 25, 6), (500, 1, 10), (1000, 1, 15))  # samples, networks (as the trainer takes), times faster
STEPS = 500  # of the trainer, so that what is prepared before them hardly counts
LOOP_STEPS = 50


def problem(samples):
    """Inputs, their teacher, labels, and the weights W_1 and W_2."""
    rng = np.random.default_rng(0)
    X, teacher = rng.standard_normal((samples, D)), rng.standard_normal(D) / np.sqrt(D)
    return X, teacher, X @ teacher, SCALE * rng.standard_normal((D, D)), SCALE * rng.standard_normal(D)


def network(samples):
    """The network as PyTorch's: (its layers, its loss)."""
    X, _, y, first, last = (torch.tensor(values, dtype=torch.float32) for values in problem(samples))
    layers = first.requires_grad_(), last[:, None].requires_grad_()
    return layers, lambda: ((X @ layers[0]) @ layers[1] - y[:, None]).square().mean() / 2


def compare(samples, networks, least, rounds=ROUNDS):
    """The row of one number of samples."""
    X, teacher, y, first, last = problem(samples)
    began = time.process_time()
    data = Factored.of(X)
    factors = time.process_time() - began

    def trained(count, steps):
        weights = Weights(*(np.broadcast_to(values, (count, *values.shape)) for values in (first[None], last)))
        return gradient_descent(
            [data], np.tile(data.targets(y), (count, 1)), np.zeros(count, dtype=int), weights,
            risk=lambda _, beta: ((beta - teacher) ** 2).sum(1),
            learning_rate=RATE, tolerance=0.0, max_steps=steps, device="cpu",
        )  # fmt: skip

    layers, loss = network(samples)
    sgd(layers, loss, RATE, LOOP_STEPS)
    expected, found = (layers[0] @ layers[1])[:, 0].detach(), trained(1, LOOP_STEPS).weights.coefficients[0]
    refuse_difference(found, expected, 1e-4, f"the trainer and the loop of {LOOP_STEPS} steps")
    loop, trainer = best_in_turns(rounds, lambda: sgd(layers, loss, RATE, LOOP_STEPS), lambda: trained(networks, STEPS))
    loop, trainer = loop / LOOP_STEPS, trainer / (STEPS * networks)
    detail = (
        f"{trainer * 1e6:.1f} µs a step of {networks} networks each, against {loop * 1e6:.0f} µs; once for a set of "
        f"inputs their factors take {factors:.2f} s"
    )
    name = f"deep linear networks of two layers, d = {D}, n = {samples}: network-steps"
    return row(name, loop / trainer, least, detail)


def measure(smallest=False):
    """Three rows, in about half a minute."""
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield compare(*setting, rounds=1 if smallest else ROUNDS)
