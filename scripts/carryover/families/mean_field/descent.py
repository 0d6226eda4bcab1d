"""Solver: gradient descent at a rate of `learning_rate` · width, input weights kept on the sphere, exact risks."""

from dataclasses import replace

import numpy as np

from carryover.families.mean_field import readouts, trained
from carryover.training.population import population_descent
from carryover.training.relu import gradient_descent
from carryover.training.result import Trained

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`. Losses are half the mean squared error, so that on samples the trainer's rate is half of `p`'s.

    Of linear_transfer the readout alone descends, until `max_time`; only its risks are stored.
    """

    def on_population(teacher, start, **kwargs):
        return population_descent(teacher, start, learning_rate=p.learning_rate, progress=progress, **kwargs)

    def on_samples(tasks, start, max_steps, **kwargs):
        return gradient_descent(
            tasks, start, learning_rate=p.learning_rate / 2, max_epochs=max_steps, precision=p.precision,
            progress=progress, **kwargs,
        )  # fmt: skip

    if getattr(p, "protocol", "") == "linear_transfer":
        return _readouts(problem, p, progress)
    return trained.run(problem, p, on_population, on_samples)


def _readouts(problem, p, progress):
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
    done = Trained.solved(None, loss, risk)
    ends = {"loss": loss[:, None], "risk": risk[:, None]}
    return replace(
        done, evaluations=taken, time=(taken * rates)[:, None], curves=ends, converged=loss <= p.tolerance,
        learning_rate=rates,
    )  # fmt: skip
