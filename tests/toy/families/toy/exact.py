"""Solver: the function nearest to the start that fits the samples."""

import numpy as np

from carryover.training.result import Trained


def solve(problem, p, progress=None):
    missing = problem.y[..., None] - problem.X @ problem.start[..., None]
    found = problem.start + (np.linalg.pinv(problem.X) @ missing)[..., 0]
    return at(problem, found)


def at(problem, found):
    residual = (problem.X @ found[..., None])[..., 0] - problem.y
    return Trained.solved(found, (residual**2).mean(1), ((found - problem.teacher) ** 2).sum(1))
