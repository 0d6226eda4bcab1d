"""What descent and flow share: the trainers of ReLU networks are asked for sums over units, and answer with them.

On samples their loss is the mean squared error itself, twice the loss of mean-field networks, so that their time runs
half as fast.
"""

from dataclasses import replace

import torch

from carryover.families.mean_field import task
from carryover.theory.kernels import relu_risk
from carryover.training.relu import Task


def run(problem, p, on_population, on_samples):
    """`Trained`, by one of two trainers, which lack what they share: on the population loss without samples."""
    shared = {"max_steps": p.max_steps, "device": p.device}
    if problem.X is None:
        teacher, start = task.unit_teacher(problem), task.starts(problem)
        trained = on_population(
            teacher, start, tolerance=p.tolerance, anchor=problem.anchor, precision=p.precision, **shared
        )
    else:
        data = Task(problem.X, problem.y[problem.sets], problem.sets)
        observe = {"risk": _risk(problem)}
        trained = on_samples(
            [data], task.starts(problem), tolerance=2 * p.tolerance, on_sphere=True, observe=observe, **shared
        )
        trained = _halved(trained)
    return replace(trained, weights=task.averaged(trained.weights))


def _risk(problem):
    """The exact mean squared error over all inputs, of networks that are sums."""
    teacher = task.summed(problem.teacher)

    def risk(first, second, runs):
        which = problem.networks[runs]
        directions, readout = (
            torch.as_tensor(values, device=first.device) for values in (teacher.first[which], teacher.second[which, 0])
        )
        return relu_risk(first, second[:, 0], directions, readout)

    return risk


def _halved(trained):
    """What was trained on the mean squared error, in the units of half of it."""
    return replace(
        trained,
        loss=trained.loss / 2,
        time=2 * trained.time,
        curves={**trained.curves, "loss": trained.curves["loss"] / 2},
        learning_rate=None if trained.learning_rate is None else 2 * trained.learning_rate,
    )
