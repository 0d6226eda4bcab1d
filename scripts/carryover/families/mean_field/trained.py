"""What descent and flow share: the trainers of ReLU networks train sums over units.

On samples their loss is the mean squared error, twice the loss of mean-field networks, so their time runs half as fast.
"""

from dataclasses import replace

import torch

from carryover.families.mean_field import task
from carryover.theory.kernels import relu_risk
from carryover.training.relu import Task


def run(problem, p, on_population, on_samples):
    """`Trained`, by one of two trainers: on the population loss where the problem has no samples."""
    start, shared = task.starts(problem), {"max_steps": p.max_steps, "device": p.device}
    if problem.X is None:
        trained = on_population(
            task.unit_teacher(problem), start, tolerance=p.tolerance, anchor=problem.anchor, precision=p.precision,
            **shared,
        )  # fmt: skip
        return replace(trained, weights=task.averaged(trained.weights))
    data = Task(problem.X, problem.y[problem.sets], problem.sets)
    trained = on_samples(
        [data], start, tolerance=2 * p.tolerance, on_sphere=True, observe={"risk": _risk(problem)}, **shared
    )
    return replace(
        trained,
        weights=task.averaged(trained.weights),
        loss=trained.loss / 2,
        time=2 * trained.time,
        curves={**trained.curves, "loss": trained.curves["loss"] / 2},
        learning_rate=None if trained.learning_rate is None else 2 * trained.learning_rate,
    )


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
