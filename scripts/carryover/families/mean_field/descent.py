"""Solver of linear_transfer: gradient descent of the readout alone at a rate of `learning_rate` · width."""

import numpy as np

from carryover.families.mean_field import readouts
from carryover.training.result import Trained


def solve(problem, p, progress=None):
    """`Trained` until `max_time`, with half the mean squared error as the loss; readouts themselves are not stored."""
    loss, risk, rates = np.full((3, len(problem.networks)), np.nan)
    taken = np.zeros(len(loss), dtype=np.int64)
    for case in readouts.cases(problem, progress):
        for time in np.unique(problem.max_time[case.runs]):
            same = problem.max_time[case.runs] == time
            runs = case.runs[same]
            found, taken[runs], rates[runs] = readouts.descended(
                case.features, case.y, case.starts[same], p.learning_rate, time, p.max_steps, p.tolerance
            )
            loss[runs] = ((found @ case.features.T / found.shape[1] - case.y) ** 2).mean(1) / 2
            risk[runs] = [case.risk(readout) for readout in found]
    return Trained.solved(
        None, loss, risk, taken * rates, evaluations=taken, converged=loss <= p.tolerance, learning_rate=rates
    )
