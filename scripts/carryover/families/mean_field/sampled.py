"""Training on samples, for the solvers that do: what the trainer of ReLU networks is asked, and what it answers.

Its loss is the mean squared error itself, twice the loss of mean-field networks, so its time runs half as fast.
"""

from dataclasses import replace

import torch

from carryover.families.mean_field import task
from carryover.theory.kernels import relu_risk
from carryover.training.relu import Task


def tasks(problem):
    """The one `Task` of a problem."""
    return [Task(problem.X, problem.y[problem.sets], problem.sets)]


def observables(problem):
    """{"risk": the exact mean squared error over all inputs}."""
    teacher = task.summed(problem.teacher)

    def risk(first, second, runs):
        which = problem.networks[runs]
        directions, readout = (
            torch.as_tensor(values, device=first.device) for values in (teacher.first[which], teacher.second[which, 0])
        )
        return relu_risk(first, second[:, 0], directions, readout)

    return {"risk": risk}


def halved(trained):
    """What was trained on the mean squared error, in the units of half of it."""
    return replace(
        trained,
        loss=trained.loss / 2,
        time=2 * trained.time,
        curves={**trained.curves, "loss": trained.curves["loss"] / 2},
        learning_rate=None if trained.learning_rate is None else 2 * trained.learning_rate,
    )
