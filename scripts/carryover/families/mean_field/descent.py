"""Solver: gradient descent at a rate of `learning_rate` · width, input weights kept on the sphere, exact risks."""

from dataclasses import replace

from carryover.families.mean_field import sampled, task
from carryover.training.population import population_descent
from carryover.training.relu import gradient_descent

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`: on the population loss where there are no samples. Losses are half the mean squared error."""
    trainer = _on_population if problem.X is None else _on_samples
    trained = trainer(problem, p, progress)
    return replace(trained, weights=task.averaged(trained.weights))


def _on_population(problem, p, progress):
    return population_descent(
        task.unit_teacher(problem), task.starts(problem), learning_rate=p.learning_rate, tolerance=p.tolerance,
        max_steps=p.max_steps, anchor=problem.anchor, precision=p.precision, device=p.device, progress=progress,
    )  # fmt: skip


def _on_samples(problem, p, progress):
    """The trainer's rate is half of what is asked for: see `sampled`."""
    trained = gradient_descent(
        sampled.tasks(problem), task.starts(problem), learning_rate=p.learning_rate / 2, tolerance=2 * p.tolerance,
        max_epochs=p.max_steps, precision=p.precision, device=p.device, on_sphere=True,
        observe=sampled.observables(problem), progress=progress,
    )  # fmt: skip
    return sampled.halved(trained)
