"""Networks of the trained diagram of "Features are fate" by the flow of balanced layers, against the papers' loop.

The loop is that of `deep_linear`, one network by autograd; it is timed over a few steps, and takes as many as the flow
time at which the flow is 1e-6 above its floor has of the paper's step of 1e-3. The paper stops at a loss of 1e-6, which
labels with noise do not allow for more samples than dimensions, or after 10⁵ steps. Both with one thread.
"""

import time

import deep_linear
import numpy as np

from carryover.training.balanced_flow import balanced_flow
from carryover.training.linear_limits import Factored, finetuned

D, RATE, TOLERANCE, NOISE = 500, 1e-3, 1e-6, 0.2
SETS, ANGLES = 5, 20
SETTINGS = ((100, 500), (250, 500), (900, 500))  # samples, times faster
STEPS = 20  # of the loop, timed


def finetuning(samples, sets, angles):
    """A shard as the workflow has it: data sets, their factors, and what `balanced_flow` takes of each network."""
    rng = np.random.default_rng(samples)
    data, rows = [], []
    for number in range(sets):
        source, other = np.linalg.qr(rng.standard_normal((D, 2)))[0].T
        X, noise = rng.standard_normal((samples, D)), NOISE * rng.standard_normal(samples)
        data.append(Factored.of(X))
        for angle in np.linspace(0.025, 0.5, angles) * np.pi:
            target = np.cos(angle) * source + np.sin(angle) * other
            rows.append((data[-1].targets(X @ target + noise), number, source, target))
    return data, *(np.stack(column) for column in zip(*rows, strict=True))


def compare(samples, least, sets=SETS, angles=ANGLES):
    """The row of one number of samples."""
    data, targets, of, start, teacher = finetuning(samples, sets, angles)
    began = time.perf_counter()
    told = {"depth": 2, "teacher": teacher, "tolerance": TOLERANCE, "max_time": 1e9}
    found = balanced_flow(data, targets, of, start, **told)
    flow = (time.perf_counter() - began) / len(of)
    limits = np.concatenate(
        [finetuned(data[s], targets[of == s], start[of == s], 2) for s in range(sets)]
    )  # fmt: skip
    distance = (np.linalg.norm(found.weights.coefficients - limits, axis=1) / np.linalg.norm(limits, axis=1)).max()
    if distance > 0.05 or not found.converged.all():
        raise AssertionError(f"the flow ends {distance:.1e} away from its limit")
    step = min(deep_linear.autograd(samples, STEPS)[0] for _ in range(3)) / STEPS
    steps = np.nanmax(found.time, axis=1).mean() / RATE
    detail = (
        f"{flow * 1e3:.1f} ms a network in a shard of {len(of)}, {found.evaluations.mean():.0f} evaluations, against "
        f"{steps:.0f} steps of {step * 1e6:.0f} µs"
    )
    name = f"deep linear networks, d = {D}, n = {samples}, to {TOLERANCE:g} above the floor: networks"
    return {"name": name, "ratio": step * steps / flow, "at_least": least, "detail": detail}


def measure(smallest=False):
    """A row for each number of samples, in some ten seconds."""
    if smallest:
        yield compare(*SETTINGS[0], sets=1, angles=2)
        return
    for setting in SETTINGS:
        yield compare(*setting)
