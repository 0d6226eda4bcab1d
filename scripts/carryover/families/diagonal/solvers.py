"""Solvers of diagonal linear networks: of a `training.diagonal.Problem` and parameters `p`, they return `Trained`."""

import math
from dataclasses import replace

import numpy as np

from carryover.errors import UserError
from carryover.networks.diagonal import Weights, weights_at
from carryover.training.diagonal import gradient_descent
from carryover.training.diagonal_flow import gradient_flow
from carryover.training.exact import diagonal_flow_limit, readout_limit
from carryover.training.losses import effective_features, group_norm
from carryover.training.result import Trained

# Along training on cross-entropy, which goes on after the samples are fitted.
OBSERVED = {
    "effective_features": lambda beta, teacher: effective_features(beta[:, 0]),
    "l1_norm": lambda beta, teacher: group_norm(beta[:, :1]),
    "group_norm": lambda beta, teacher: group_norm(beta),
}


def exact(problem, p):
    """The limit of gradient flow on the mean squared error, of both layers or of readouts alone, without training.

    UserError for several outputs, for which this limit is not known.
    """
    if len(problem.tasks) > 1:
        raise UserError("multi_task has no exact limit: choose solver flow or descent.")
    task, start = problem.tasks[0], problem.start
    X, y = task.X[task.sets], task.y
    if "first" in problem.trainable:
        paths = start.first_plus, start.second_plus[:, 0], start.first_minus, start.second_minus[:, 0]
        w1_plus, w2_plus, w1_minus, w2_minus = weights_at(diagonal_flow_limit(X, y, *paths), *paths)
        weights = Weights(w1_plus, w1_minus, w2_plus[:, None], w2_minus[:, None])
    else:
        weights = readout_limit(X, y, start)
    beta = weights.coefficients()[:, 0]
    residual = np.einsum("rni,ri->rn", X, beta) - y
    return Trained.from_solution(weights, (residual**2).mean(1), ((beta - problem.teacher) ** 2).sum(1))


def symmetric(problem, p):
    """The minimiser of the Q penalty of eq 22, which assumes that both paths start from the same weights.

    After pretraining they do not. This is the flow limit of the network with each path's first layer replaced by the
    larger of the two, √|β_aux| on the auxiliary features, as the paper reads its eq 22; `exact` starts from the real
    weights. UserError where only the readout is trained, for which eq 22 says nothing.
    """
    if "first" not in problem.trainable:
        raise UserError("a probe minimises no Q penalty: choose solver exact or descent.")
    first = np.maximum(np.abs(problem.start.first_plus), np.abs(problem.start.first_minus))
    second = np.maximum(np.abs(problem.start.second_plus), np.abs(problem.start.second_minus))
    return exact(replace(problem, start=Weights(first, first, second, second)), p)


def flow(problem, p):
    """Gradient flow, followed by an adaptive integrator; UserError for that of a readout alone, which is linear."""
    if "first" not in problem.trainable:
        raise UserError("a probe needs no integrator: choose solver exact or descent.")
    return gradient_flow(
        problem, accuracy=p.accuracy, tolerance=p.tolerance, max_time=p.max_time or math.inf, max_steps=p.max_steps,
        device=p.device,
    )  # fmt: skip


def descent(problem, p):
    """Plain full-batch gradient descent, as the paper trains."""
    return gradient_descent(
        problem, learning_rate=p.learning_rate, loss=p.loss, normalised=p.loss == "cross_entropy" and p.normalised,
        observe=OBSERVED if p.loss == "cross_entropy" else None, tolerance=p.tolerance, max_steps=p.max_steps,
        device=p.device,
    )  # fmt: skip
