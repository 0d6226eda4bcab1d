"""Networks of the trained diagram of "Features are fate" by the flow of balanced layers, against the papers' loop.

The loop is that of `deep_linear`; it is timed over a few steps, and takes as many as the flow time at which the flow is
1e-6 above its floor has of the paper's step of 1e-3. The paper stops at a loss of 1e-6, which labels with noise do not
allow for more samples than dimensions, or after 10⁵ steps.
"""

import deep_linear
import numpy as np
from _plain import refuse_difference, row, sgd, timed

from carryover.training.linear_flow import Factored, balanced_flow, finetuning_limit

D, RATE, TOLERANCE, NOISE = 500, 1e-3, 1e-6, 0.2
SETTINGS = ((100, 500), (250, 500), (900, 500))  # samples, times faster
STEPS = 20  # of the loop, timed


def compare(samples, least, sets=5, angles=20):
    """The row of one number of samples, of a shard as the workflow has it: data sets by angles."""
    rng = np.random.default_rng(samples)
    data, rows = [], []
    for number in range(sets):
        source, other = np.linalg.qr(rng.standard_normal((D, 2)))[0].T
        X, noise = rng.standard_normal((samples, D)), NOISE * rng.standard_normal(samples)
        data.append(Factored.of(X))
        for angle in np.linspace(0.025, 0.5, angles) * np.pi:
            target = np.cos(angle) * source + np.sin(angle) * other
            rows.append((data[-1].targets(X @ target + noise), number, source, target))
    targets, of, start, teacher = (np.stack(column) for column in zip(*rows, strict=True))
    settings = {"depth": 2, "tolerance": TOLERANCE, "max_time": 1e9}
    settings["risk"] = lambda runs, beta: ((beta - teacher[runs]) ** 2).sum(1)
    seconds, found = timed(lambda: balanced_flow(data, targets, of, start, **settings))
    limits = [finetuning_limit(data[s], targets[of == s], start[of == s], 2) for s in range(sets)]
    for beta, limit in zip(found.weights.coefficients, np.concatenate(limits), strict=True):
        refuse_difference(beta, limit, 0.05, "the flow and its limit")
    if not found.converged.all():
        raise AssertionError("the flow did not arrive")
    flow = seconds / len(of)
    layers, loss = deep_linear.network(samples)
    step = min(sgd(layers, loss, deep_linear.RATE, STEPS) for _ in range(3)) / STEPS
    steps = np.nanmax(found.time, axis=1).mean() / RATE
    detail = (
        f"{flow * 1e3:.1f} ms a network in a shard of {len(of)}, {found.evaluations.mean():.0f} evaluations, against "
        f"{steps:.0f} steps of {step * 1e6:.0f} µs"
    )
    name = f"deep linear networks, d = {D}, n = {samples}, to {TOLERANCE:g} above the floor: networks"
    return row(name, step * steps / flow, least, detail)


def measure(smallest=False):
    """A row for each number of samples, in some ten seconds."""
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield compare(*setting, **({"sets": 1, "angles": 2} if smallest else {}))
