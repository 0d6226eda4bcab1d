"""Solver: the limit of gradient flow from vanishing weights, so that nothing is trained."""

import numpy as np

from carryover.errors import UserError
from carryover.networks.deep_linear import Balanced
from carryover.training.linear_limits import Factored, finetuned, on_features, weight_decayed
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` at the end of the flow: no steps, no curves."""
    targets = problem.reduced_targets()
    folds = getattr(p, "folds", 0)
    coefficients, validation = np.empty_like(problem.teacher), np.full(len(targets), np.nan)
    for s in np.unique(problem.sets):
        runs = problem.sets == s
        coefficients[runs] = _limits(problem, p, problem.data[s], targets[runs], runs)
        if folds:
            validation[runs] = _validated(problem, folds, s)
    return _trained(problem, targets, coefficients, validation if folds else None)


def _limits(problem, p, data, targets, runs):
    """(runs, d) of the runs that learn from one set."""
    protocol = getattr(p, "protocol", "pretraining")
    if protocol == "finetuning":
        return finetuned(data, targets, problem.coefficients[runs], problem.depth)
    if protocol == "linear_transfer":
        features = _features(problem, np.flatnonzero(runs)[0], p.truncation)
        start, ridge = problem.coefficients[runs], problem.ridge[runs]
        # A penalty pulls the readout towards zero; without one it leaves what the data do not see as it was.
        origin = np.where(ridge[:, None] > 0, 0.0, start)
        unexplained = targets - (origin @ data.directions.T) * data.values
        limit = origin + on_features(data, unexplained, features, ridge)
        if problem.frozen >= problem.depth - 1:
            return limit
        # Several balanced layers behind the frozen ones keep the sign of their product, and stop at 0 on their way.
        return np.where((limit * start).sum(1, keepdims=True) > 0, limit, 0.0)
    return weight_decayed(data, targets, problem.weight_decay[runs])  # for none the least norm, at any depth


def _features(problem, run, truncation):
    """Φ (d, r) of a pretrained network, without directions that vanish with the initial weights; UserError where
    several layers learn behind features that are more than one."""
    if problem.start is None:
        beta = problem.coefficients[run]
        return beta[:, None] / np.linalg.norm(beta) ** (1 / problem.depth)
    if problem.frozen < problem.depth - 1:
        raise UserError(
            "trained_layers above 1 has an exact limit for pretraining with the solver exact or balanced alone: set it "
            "to 1, or the solver of finetuning to descent."
        )
    left, values, _ = np.linalg.svd(problem.start[run].features().astype(np.float64))
    return (left * values)[:, values > truncation * values[0]]


def _validated(problem, folds, s):
    """Mean squared error on each fold of the network that the others trained, the mean over folds, (runs,)."""
    runs, X = problem.sets == s, problem.inputs[s]
    squares = np.zeros(runs.sum())
    for held in np.array_split(np.arange(len(X)), folds):
        rest = np.delete(np.arange(len(X)), held)
        data, targets = Factored.of(X[rest]), problem.targets[runs]
        beta = weight_decayed(data, data.targets(targets[:, rest]), problem.weight_decay[runs])
        squares += ((beta @ X[held].T - targets[:, held]) ** 2).sum(1)
    return squares / len(X)


def _trained(problem, targets, coefficients, validation):
    above_floor = np.empty(len(coefficients))  # in the coordinates of the data, without what no function can fit
    for run, s in enumerate(problem.sets):
        data = problem.data[s]
        residual = data.values * (data.directions @ coefficients[run]) - targets[run]
        above_floor[run] = (residual**2).sum() / (2 * data.samples)
    return Trained.solved(
        Balanced(coefficients, problem.depth),
        above_floor,
        problem.risk(slice(None), coefficients),
        validation_loss=validation,
    )
