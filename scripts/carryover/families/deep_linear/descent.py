"""Solver: gradient descent on all layers, or on the last ones alone while the first are frozen, as the papers train."""

from dataclasses import dataclass, replace

import numpy as np

from carryover.networks.deep_linear import Weights
from carryover.training.deep_linear import gradient_descent
from carryover.training.factored import Factored


@dataclass(frozen=True)
class Coefficients:
    """Networks of which nothing else is kept."""

    coefficients: np.ndarray  # (runs, d)


def solve(problem, p, progress=None):
    """`Trained`; its risk is the expected squared error, and its loss is above the least that its layers can reach."""
    told = {
        "learning_rate": p.learning_rate, "tolerance": p.tolerance, "max_steps": p.max_steps,
        "weight_decay": problem.weight_decay, "precision": p.precision, "device": p.device, "progress": progress,
    }  # fmt: skip
    if not problem.frozen:
        targets = problem.reduced_targets()
        return gradient_descent(problem.data, targets, problem.sets, problem.weights(), risk=problem.risk, **told)
    # Behind frozen layers the others are a network of their own, whose inputs are the features.
    start, runs = problem.weights(), np.arange(len(problem.sets))
    features = Weights(start.hidden[:, : problem.frozen], start.readout).features().astype(np.float64)
    behind = Weights(start.hidden[:, problem.frozen :], start.readout)
    data = [Factored.of(problem.inputs[s] @ own) for s, own in zip(problem.sets, features, strict=True)]
    targets = np.stack([own.targets(y) for own, y in zip(data, problem.targets, strict=True)])

    def through(which, beta):
        return (features[which] @ beta[:, :, None])[:, :, 0]

    trained = gradient_descent(
        data, targets, runs, behind, risk=lambda which, beta: problem.risk(which, through(which, beta)), **told
    )  # fmt: skip
    return replace(trained, weights=Coefficients(through(runs, trained.weights.coefficients)))
