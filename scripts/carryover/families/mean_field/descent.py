"""Solver: gradient descent at a rate of `learning_rate` · width, input weights kept on the sphere, exact risks."""

from dataclasses import replace

import torch

from carryover.families.mean_field import task
from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk
from carryover.training.population import population_descent
from carryover.training.relu import Task, gradient_descent

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`: on the population loss where there are no samples. Losses are half the mean squared error."""
    start = task.summed(Weights(problem.start.first[problem.networks], problem.start.second[problem.networks]))
    trainer = _on_population if problem.X is None else _on_samples
    trained = trainer(problem, start, p, progress)
    return replace(trained, weights=task.averaged(trained.weights))


def _on_population(problem, start, p, progress):
    m = problem.teacher.first.shape[-2]
    return population_descent(
        Weights(problem.teacher.first, problem.teacher.second / m), start, learning_rate=p.learning_rate,
        tolerance=p.tolerance, max_steps=p.max_steps, anchor=problem.anchor, precision=p.precision, device=p.device,
        progress=progress,
    )  # fmt: skip


def _on_samples(problem, start, p, progress):
    """The trainer's loss is the mean squared error itself, so its rate is half of what is asked for."""
    data = Task(problem.X, problem.y[problem.sets], problem.sets)
    trained = gradient_descent(
        [data], start, learning_rate=p.learning_rate / 2, tolerance=2 * p.tolerance, max_epochs=p.max_steps,
        precision=p.precision, device=p.device, on_sphere=True, observe={"risk": _risk(problem)}, progress=progress,
    )  # fmt: skip
    return replace(
        trained,
        loss=trained.loss / 2,
        time=2 * trained.time,
        curves={**trained.curves, "loss": trained.curves["loss"] / 2},
        learning_rate=2 * trained.learning_rate,
    )


def _risk(problem):
    teacher = task.summed(problem.teacher)

    def risk(first, second, runs):
        which = problem.networks[runs]
        directions, readout = (
            torch.as_tensor(values, device=first.device) for values in (teacher.first[which], teacher.second[which, 0])
        )
        return relu_risk(first, second[:, 0], directions, readout)

    return risk
