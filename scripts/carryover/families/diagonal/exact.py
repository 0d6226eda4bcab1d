"""Solver: the limit of gradient flow, without training. Exact for one output, whichever layers are trained."""

import numpy as np

from carryover.errors import UserError
from carryover.networks.diagonal import Weights, weights_at
from carryover.training.exact import diagonal_flow_limit, linear_probe_limit
from carryover.training.result import Trained


def solve(problem, p=None, progress=None):
    """`Trained` at the end of the flow; UserError for several outputs, whose limit has no such form."""
    if len(problem.X) > 1:
        raise UserError("multi_task has no exact limit: choose solver flow or descent.")
    ends = [_limit(problem, run) for run in range(len(problem.draw))]
    weights = Weights(*(np.stack(arrays) for arrays in zip(*ends, strict=True)))
    X, y, beta = problem.X[0][problem.draw], problem.y[0][problem.draw], weights.coefficients()[:, 0]
    residual = np.einsum("rni,ri->rn", X, beta) - y
    return Trained.solved(weights, (residual**2).mean(1), ((beta - problem.teacher) ** 2).sum(1))


def _limit(problem, run):
    X, y, start = problem.X[0][problem.draw[run]], problem.y[0][problem.draw[run]], problem.start
    first = start.first_plus[run], start.first_minus[run]
    second = start.second_plus[run, 0], start.second_minus[run, 0]
    if "first" not in problem.trainable:
        plus, minus = linear_probe_limit(X, y, *first, *second)
        return *first, plus[None], minus[None]
    paths = first[0], second[0], first[1], second[1]
    w1_plus, w2_plus, w1_minus, w2_minus = weights_at(diagonal_flow_limit(X, y, *paths), *paths)
    return w1_plus, w1_minus, w2_plus[None], w2_minus[None]
