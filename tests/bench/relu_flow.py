"""Networks trained to one loss: by gradient flow, by our gradient descent, and by the papers' loop with autograd.

The loop is timed for some epochs, and its time is that of as many epochs as our descent needs, which takes the same
steps, or of those that it was granted, where it needs more: then the true ratio is larger.
"""

from dataclasses import dataclass

import numpy as np
from _plain import relu_network, row, sgd, timed

from carryover.networks.relu import Weights
from carryover.tasks.sparse import sphere
from carryover.training.relu import gradient_descent
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Samples

D, FEATURES, SMALL, AUXILIARY = 15, 6, 1e-3, 1024  # SMALL: scale of weights from scratch, and of redrawn readouts
TOLERANCE = 1e-8  # loss, as a fraction of that of a network whose outputs are 0


@dataclass(frozen=True)
class Case:
    """What is trained. `flow`: held against the loop by flow alone, else by whichever of our solvers is faster."""

    name: str
    width: int
    samples: tuple[int, ...]
    at_least: float
    flow: bool
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
    return Samples(X[None], y[None], np.array([0]))


def until(tasks):
    """The loss at which training stops, and where it runs."""
    return {"tolerance": TOLERANCE * sum(np.mean(one.y**2) for one in tasks), "device": "cpu"}


def problem(case):
    """Tasks and the network at its start."""
    rng = np.random.default_rng(0)
    first = SMALL * np.sqrt(2 / D) * rng.standard_normal((1, case.width, D))
    second = SMALL * np.sqrt(2 / case.width) * rng.standard_normal((1, len(case.samples), case.width))
    if case.rescale is not None:
        pretraining = [task(rng, AUXILIARY)]
        first = case.rescale * gradient_flow(pretraining, Weights(first, second), **until(pretraining)).weights.first
    return [task(rng, samples, case.magnitude) for samples in case.samples], Weights(first, second)


def compare(case):
    """Rows of one network: against the loop, and flow against our descent where it is to win."""
    tasks, start = problem(case)
    flows = [timed(lambda: gradient_flow(tasks, start, accuracy=case.accuracy, **until(tasks))) for _ in range(3)]
    flow_time, flow = min(flows, key=lambda one: one[0])
    if not flow.converged.all():
        raise AssertionError(f"the flow of {case.name} ended at a loss of {flow.loss[0]:.1e}")
    descent_time, descent = timed(
        lambda: gradient_descent(tasks, start, learning_rate=0.5, max_epochs=case.epochs, **until(tasks))
    )
    epochs, rate, arrived = int(descent.evaluations[0]), descent.measured["learning_rate"][0], descent.converged.all()
    loop = relu_network(tasks, start)
    few = max(20, int(0.3 / sgd(*loop, rate, 20) * 20))  # epochs of about .3 seconds
    loop_time = epochs * float(np.median([sgd(*loop, rate, few) for _ in range(5)])) / few
    ours = flow_time if case.flow or not arrived else min(flow_time, descent_time)
    more = "" if arrived else ", which were not enough: the true ratio is larger"
    detail = (
        f"loss {TOLERANCE:g} of an idle network's, one thread: flow {flow_time:.2f} s ({int(flow.evaluations[0])} "
        f"gradients), our descent {descent_time:.2f} s, against {loop_time:.1f} s of the loop (extrapolated from "
        f"{loop_time / epochs * 1e6:.0f} µs an epoch to {epochs} epochs of rate {rate:g}{more})"
    )
    name = f"ReLU networks to the end, {case.name}"
    yield row(name, loop_time / ours, case.at_least, detail)
    if case.flow:
        detail = f"the same{'' if arrived else ': descent was stopped before it had arrived'}"
        yield row(f"{name}: flow against our descent", descent_time / flow_time, 1, detail)


def measure(smallest=False):
    """Eight rows, in some minutes."""
    for case in (SMALLEST,) if smallest else CASES:
        yield from compare(case)
