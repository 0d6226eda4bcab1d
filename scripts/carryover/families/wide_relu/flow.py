"""Solver: gradient flow of the first layer alone, which descent follows with small steps; the exact risk at the end."""

from dataclasses import replace

from carryover.families.wide_relu import task
from carryover.training.relu import Task
from carryover.training.relu_flow import gradient_flow


def solve(problem, p, progress=None):
    """`Trained`, on the mean squared error."""
    trained = gradient_flow(
        [Task(problem.X, problem.y, problem.networks)], problem.start[problem.networks], tolerance=p.tolerance,
        accuracy=p.accuracy, max_steps=p.max_steps, device=p.device, trainable=("first",), progress=progress,
    )  # fmt: skip
    return replace(trained, risk_final=task.risk(trained.weights, problem.teacher))
