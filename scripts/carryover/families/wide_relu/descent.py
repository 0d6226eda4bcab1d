"""Solver: gradient descent on the first layer alone, on the mean squared error, with the exact risk at the end."""

from dataclasses import replace

from carryover.families.wide_relu import task
from carryover.training.relu import Task, gradient_descent


def solve(problem, p, progress=None):
    """`Trained`. A step of η is one of 2η/n in the paper, whose loss is half the sum of squares.

    The risk is worked out at the end alone: it costs as much as many steps.
    """
    trained = gradient_descent(
        [Task(problem.X, problem.y, problem.networks)], problem.start[problem.networks], learning_rate=p.learning_rate,
        tolerance=p.tolerance, max_epochs=p.max_steps, precision=p.precision, device=p.device, trainable=("first",),
        progress=progress,
    )  # fmt: skip
    return replace(trained, risk_final=task.risk(trained.weights, problem.teacher))
