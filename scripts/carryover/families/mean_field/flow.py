"""Solver: gradient flow, which plain descent follows with small steps, input weights on the sphere; exact risks."""

from dataclasses import replace

import torch

from carryover.families.mean_field import task
from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk
from carryover.training.population_flow import population_flow
from carryover.training.relu import Task
from carryover.training.relu_flow import gradient_flow

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`, on the population loss where the problem has no samples. Times and losses are those of descent.

    The trainers take sums over units. On samples their loss is the mean squared error, twice the loss of mean-field
    networks, so their time runs half as fast.
    """
    start, teacher = task.summed(problem.start[problem.networks]), problem.teacher
    settings = {"accuracy": p.accuracy, "max_steps": p.max_steps, "device": p.device, "progress": progress}
    if problem.X is None:
        unit_teacher = Weights(teacher.first, teacher.second / teacher.first.shape[-2])
        trained = population_flow(
            unit_teacher, start, tolerance=p.tolerance, max_time=p.max_time, anchor=problem.anchor,
            precision=p.precision, **settings,
        )  # fmt: skip
        return replace(trained, weights=task.averaged(trained.weights))
    teacher = task.summed(teacher)

    def risk(first, second, runs):
        which = problem.networks[runs]
        units = teacher.first[which], teacher.second[which, 0]
        return relu_risk(first, second[:, 0], *(torch.as_tensor(values, device=first.device) for values in units))

    trained = gradient_flow(
        [Task(problem.X, problem.y[problem.sets], problem.sets)], start, tolerance=2 * p.tolerance, on_sphere=True,
        observe={"risk": risk}, **settings,
    )  # fmt: skip
    curves = {**trained.curves, "loss": trained.curves["loss"] / 2}
    weights = task.averaged(trained.weights)
    return replace(trained, weights=weights, loss=trained.loss / 2, time=2 * trained.time, curves=curves)
