"""Networks trained to one loss: by gradient flow, by our gradient descent, and by the papers' loop with autograd.

One network and one thread each, in seconds of the processor, so that other work on it counts little. The loop is timed
for some epochs, and its time is that of as many epochs as our descent needs, which takes the same steps, or of those
that it was granted, where it needs more: then the true ratio is larger.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.tasks.sparse import sphere
from carryover.training.relu import Task, gradient_descent
from carryover.training.relu_flow import gradient_flow

D, FEATURES, SMALL, AUXILIARY = 15, 6, 1e-3, 1024  # SMALL: scale of weights from scratch, and of redrawn readouts
TOLERANCE = 1e-8  # loss, as a fraction of that of a network whose outputs are 0
REPEATS = 3  # of the flow, of which the fastest counts
TURNS, SECONDS = 5, 0.3  # of the loop, and how long one takes


@dataclass(frozen=True)
class Case:
    """What is trained. `flow`: held against the loop by flow alone, else by whichever of our solvers is faster."""

    name: str
    width: int
    samples: tuple[int, ...]
    at_least: float
    flow: bool
    rate: float = 0.5
    magnitude: float = 1.0
    rescale: float | None = None  # of the pretrained first layer
    epochs: int = 200_000  # that our descent is granted
    accuracy: float = 0.03


CASES = (
    Case("width 1000, n = 64, magnitude .01", 1000, (64,), 80, True, magnitude=0.01),
    Case("width 1000, n = 256, magnitude .01", 1000, (256,), 80, True, magnitude=0.01),
    Case("width 200, n = 128, finetuned, rescaled by 10", 200, (128,), 80, True, rescale=10.0),
    # Of these by the flow of the small configuration.
    Case("width 1000, n = 256, magnitude 1", 1000, (256,), 5, False, accuracy=0.1),
    Case("width 200, multi-task, n = 1024 + 64", 200, (64, AUXILIARY), 5, False, accuracy=0.1),
)
SMALLEST = Case("width 20, n = 8", 20, (8,), 1, True, epochs=1000)


def task(rng, samples, magnitude=1.0):
    """One network's samples of a teacher of orthogonal units."""
    X = sphere(rng, samples, D)
    directions = np.linalg.qr(rng.standard_normal((D, D)))[0][:FEATURES]
    y = magnitude * np.maximum(X @ directions.T, 0) @ np.resize([1.0, -1.0], FEATURES) / FEATURES**0.5
    return Task(X[None], y[None], np.array([0]))


def problem(case):
    """Tasks and the network at its start."""
    rng = np.random.default_rng(0)
    first = SMALL * np.sqrt(2 / D) * rng.standard_normal((1, case.width, D))
    second = SMALL * np.sqrt(2 / case.width) * rng.standard_normal((1, len(case.samples), case.width))
    if case.rescale is not None:
        pretraining = task(rng, AUXILIARY)
        asked = {"tolerance": limit([pretraining]), "device": "cpu"}
        first = case.rescale * gradient_flow([pretraining], Weights(first, second), **asked).weights.first
    return [task(rng, samples, case.magnitude) for samples in case.samples], Weights(first, second)


def limit(tasks):
    return TOLERANCE * sum(np.mean(one.y**2) for one in tasks)


def seconds_of_an_epoch(tasks, start, rate):
    """Of the loop: the median of some turns."""
    data = [(torch.tensor(one.X[0]).float(), torch.tensor(one.y[0]).float()) for one in tasks]
    _, width, inputs = start.first.shape
    layers = torch.nn.Linear(inputs, width, bias=False), torch.nn.Linear(width, len(tasks), bias=False)
    for layer, values in zip(layers, (start.first, start.second), strict=True):
        layer.weight.data = torch.tensor(values[0], dtype=torch.float32)
    network = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1])
    optimiser, objective = torch.optim.SGD(network.parameters(), lr=rate), torch.nn.MSELoss()
    turns = []
    for _ in range(TURNS):
        began, epochs = time.process_time(), 0
        while time.process_time() - began < SECONDS:
            optimiser.zero_grad()
            loss = sum(objective(network(X)[:, o], y) for o, (X, y) in enumerate(data))
            loss.backward()
            optimiser.step()
            loss.item()
            epochs += 1
        turns.append((time.process_time() - began) / epochs)
    return float(np.median(turns))


def timed(function):
    began = time.process_time()
    trained = function()
    return time.process_time() - began, trained


def compare(case):
    """Rows of one network: against the loop, and flow against our descent where it is to win."""
    tasks, start = problem(case)
    asked = {"tolerance": limit(tasks), "device": "cpu"}
    flow_time, flow = min(
        (timed(lambda: gradient_flow(tasks, start, accuracy=case.accuracy, **asked)) for _ in range(REPEATS)),
        key=lambda one: one[0],
    )
    if not flow.converged.all():
        raise AssertionError(f"the flow of {case.name} ended at a loss of {flow.loss[0]:.1e}")
    descent_time, descent = timed(
        lambda: gradient_descent(tasks, start, learning_rate=case.rate, max_epochs=case.epochs, **asked)
    )
    epochs, rate, arrived = int(descent.evaluations[0]), descent.learning_rate[0], descent.converged.all()
    loop_time = epochs * seconds_of_an_epoch(tasks, start, rate)
    ours = flow_time if case.flow or not arrived else min(flow_time, descent_time)
    more = "" if arrived else ", which were not enough: the true ratio is larger"
    detail = (
        f"loss {TOLERANCE:g} of an idle network's, one thread: flow {flow_time:.2f} s ({int(flow.evaluations[0])} "
        f"gradients), our descent {descent_time:.2f} s, against {loop_time:.1f} s of the loop (extrapolated from "
        f"{loop_time / epochs * 1e6:.0f} µs an epoch to {epochs} epochs of rate {rate:g}{more})"
    )
    name = f"ReLU networks to the end, {case.name}"
    rows = [{"name": name, "ratio": loop_time / ours, "at_least": case.at_least, "detail": detail}]
    if case.flow:
        detail = f"the same{'' if arrived else ': descent was stopped before it had arrived'}"
        ratio = descent_time / flow_time
        rows.append({"name": f"{name}: flow against our descent", "ratio": ratio, "at_least": 1, "detail": detail})
    return rows


def measure(smallest=False):
    """Eight rows, in some minutes."""
    for case in (SMALLEST,) if smallest else CASES:
        yield from compare(case)
