"""Solvers of deep linear networks; risks are the expected squared error.

They take a `pretrain.Problem` and the parameters `p` of a stage, and return `Trained`.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from carryover.errors import UserError
from carryover.networks import deep_linear
from carryover.training.deep_linear import gradient_descent
from carryover.training.linear_flow import Factored, balanced_flow, finetuning_limit, on_features, weight_decay_limit
from carryover.training.result import Trained

MAX_TIME = 1e9  # of flow; slow directions end before, those of smallest eigenvalues at γ = 1 too
ACCURACY = 1e-6  # of a step of the flow, relative


def exact(problem, p):
    """The limit of gradient flow (see `_limits`), without training; with `p.folds` also the cross-validated error."""
    targets, sets = problem.project_targets(), problem.task.sets
    folds = getattr(p, "folds", 0)
    coefficients, validation = np.empty_like(problem.teacher), np.full(len(targets), np.nan)
    for s in np.unique(sets):
        runs = sets == s
        coefficients[runs] = _limits(problem, p, problem.data[s], targets[runs], runs)
        if folds:  # mean squared error on each fold of the network trained on the other folds, mean over samples
            X, y, squares = problem.task.X[s], problem.task.y[runs], np.zeros(runs.sum())
            for held in np.array_split(np.arange(len(X)), folds):
                rest = np.delete(np.arange(len(X)), held)
                data = Factored.of(X[rest])
                beta = weight_decay_limit(data, data.targets(y[:, rest]), problem.weight_decay[runs])
                squares += ((beta @ X[held].T - y[:, held]) ** 2).sum(1)
            validation[runs] = squares / len(X)
    above_floor = np.empty(len(coefficients))  # the loss less its minimum over all linear functions
    for run, s in enumerate(sets):
        data = problem.data[s]
        residual = data.values * (data.directions @ coefficients[run]) - targets[run]
        above_floor[run] = (residual**2).sum() / (2 * data.samples)
    return Trained.from_solution(
        SimpleNamespace(coefficients=coefficients), above_floor, problem.risk(slice(None), coefficients),
        measured={"validation_loss": validation} if folds else {},
    )  # fmt: skip


def _limits(problem, p, data, targets, runs):
    """Coefficients (R, d) at the end of training, of the R runs in the mask `runs`, which share the data set `data`.

    `targets` (R, k) are Uᵀy. The limit depends on the protocol: all layers from a pretrained network ("finetuning"),
    the last layers on frozen features ("linear_transfer"), or all layers from vanishing weights.
    """
    protocol = getattr(p, "protocol", "pretraining")
    if protocol == "finetuning":
        return finetuning_limit(data, targets, problem.coefficients[runs], problem.depth)
    if protocol != "linear_transfer":
        return weight_decay_limit(data, targets, problem.weight_decay[runs])  # if this is 0, least norm at any depth
    # Features Φ (d, r) of the runs' pretrained network, without directions that vanish with its initial weights.
    network = np.flatnonzero(runs)[0]  # runs of one set start from one network
    if problem.start is None:  # layers of rank one, with one feature of norm |β|^{1 − 1/L}
        beta = problem.coefficients[network]
        features = beta[:, None] / np.linalg.norm(beta) ** (1 / problem.depth)
    elif problem.frozen < problem.depth - 1:
        raise UserError(
            "trained_layers above 1 has an exact limit for pretraining with the solver exact or balanced alone: set it "
            "to 1, or the solver of finetuning to descent."
        )
    else:
        left, values, _ = np.linalg.svd(problem.start[network].features().astype(np.float64))
        features = (left * values)[:, values > p.truncation * values[0]]
    # With a ridge penalty the limit does not depend on the start. Without one, training adds to the start the solution
    # of least norm for what the start does not explain.
    start, ridge = problem.coefficients[runs], problem.ridge[runs]
    origin = np.where(ridge[:, None] > 0, 0.0, start)
    unexplained = targets - (origin @ data.directions.T) * data.values
    limit = origin + on_features(data, unexplained, features, ridge)
    if problem.frozen >= problem.depth - 1:
        return limit
    # If several balanced layers are trained behind the frozen ones, the flow cannot change the sign of their product:
    # where the limit has the opposite sign, it ends at 0.
    return np.where((limit * start).sum(1, keepdims=True) > 0, limit, 0.0)


def balanced(problem, p):
    """Gradient flow of balanced networks, as an ordinary differential equation of their function alone."""
    return balanced_flow(
        problem.data, problem.project_targets(), problem.task.sets, problem.coefficients, depth=problem.depth,
        risk=problem.risk, tolerance=p.tolerance, max_time=MAX_TIME, accuracy=ACCURACY,
    )  # fmt: skip


def descent(problem, p):
    """Gradient descent on all layers, or on the last ones alone while the first are frozen, as the papers train.

    The loss is above the least that the layers can reach.
    """
    settings = {name: getattr(p, name) for name in ("learning_rate", "tolerance", "max_steps", "precision", "device")}
    task, start = problem.task, problem.start
    if start is None:
        start = deep_linear.rank_one_network(problem.coefficients, problem.depth)
    if not problem.frozen:
        targets = problem.project_targets()
        return gradient_descent(problem.data, targets, task.sets, start, risk=problem.risk, **settings)
    # Behind frozen layers the others are a network of their own, whose inputs are the features. Targets of one seed
    # share features and inputs, and to factorise these costs more than to train: each pair of them is taken once.
    known = np.column_stack([task.sets, problem.coefficients])
    _, firsts, pairs = np.unique(known, axis=0, return_index=True, return_inverse=True)
    pairs, frozen = pairs.ravel(), deep_linear.Weights(start.hidden[:, : problem.frozen], start.readout)
    features = [frozen[run].features().astype(np.float64) for run in firsts]
    data = [Factored.of(task.X[task.sets[run]] @ own) for run, own in zip(firsts, features, strict=True)]
    targets = np.stack([data[pair].targets(y) for pair, y in zip(pairs, task.y, strict=True)])

    def through(which, beta):
        """Coefficients (·, d) of the whole networks, of those of the layers that are trained."""
        found = np.empty(beta.shape)
        for pair in np.unique(pairs[which]):
            own = pairs[which] == pair
            found[own] = beta[own] @ features[pair].T
        return found

    trained = gradient_descent(
        data, targets, pairs, deep_linear.Weights(start.hidden[:, problem.frozen :], start.readout),
        risk=lambda which, beta: problem.risk(which, through(which, beta)), **settings,
    )  # fmt: skip
    coefficients = through(np.arange(len(pairs)), trained.weights.coefficients)
    return replace(trained, weights=SimpleNamespace(coefficients=coefficients))
