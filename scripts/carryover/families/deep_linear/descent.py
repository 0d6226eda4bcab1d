"""Solver: gradient descent on all layers, or on the last ones alone while the first are frozen, as the papers train."""

from dataclasses import dataclass, replace

import numpy as np

from carryover.networks.deep_linear import Weights
from carryover.training.deep_linear import gradient_descent
from carryover.training.linear_limits import Factored


@dataclass(frozen=True)
class Coefficients:
    """Networks by their function alone."""

    coefficients: np.ndarray  # (runs, d)


def solve(problem, p, progress=None):
    """`Trained`; its risk is the expected squared error, and its loss is above the least that its layers can reach."""
    settings = {
        "learning_rate": p.learning_rate, "tolerance": p.tolerance, "max_steps": p.max_steps,
        "precision": p.precision, "device": p.device, "progress": progress,
    }  # fmt: skip
    if not problem.frozen:
        targets = problem.reduced_targets()
        return gradient_descent(problem.data, targets, problem.sets, problem.weights(), risk=problem.risk, **settings)
    # Behind frozen layers the others are a network of their own, whose inputs are the features.
    start = problem.weights()
    networks, pairs = _features(problem, start)
    features = np.stack([own for own, _ in networks])
    data = [Factored.of(problem.inputs[s] @ own) for own, s in networks]
    targets = np.stack([data[pair].targets(y) for pair, y in zip(pairs, problem.targets, strict=True)])

    def through(which, beta):
        found = np.empty(beta.shape)
        for pair in np.unique(pairs[which]):
            own = pairs[which] == pair
            found[own] = beta[own] @ features[pair].T
        return found

    trained = gradient_descent(
        data, targets, pairs, Weights(start.hidden[:, problem.frozen :], start.readout),
        risk=lambda which, beta: problem.risk(which, through(which, beta)), **settings,
    )  # fmt: skip
    runs = np.arange(len(pairs))
    return replace(trained, weights=Coefficients(through(runs, trained.weights.coefficients)))


def _features(problem, start):
    """([(what frozen layers make of the inputs, (d, d), and the set that is learned from)], each once, and the place of
    every run's there (runs,)): targets of one seed share both, and to factorise them costs more than to train."""
    frozen, places, networks = start.hidden[:, : problem.frozen], {}, []
    pairs = np.empty(len(problem.sets), dtype=int)
    for run, s in enumerate(problem.sets.tolist()):
        pairs[run] = places.setdefault((s, frozen[run].tobytes()), len(networks))
        if pairs[run] == len(networks):
            networks.append((Weights(frozen[run], start.readout[run]).features().astype(np.float64), s))
    return networks, pairs
