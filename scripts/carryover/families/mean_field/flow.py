"""Solver: gradient flow, which plain descent follows with small steps, input weights on the sphere; exact risks."""

from dataclasses import replace

from carryover.families.mean_field import sampled, task
from carryover.training.population_flow import population_flow
from carryover.training.relu_flow import gradient_flow

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`: on the population loss where there are no samples. Times and losses are those of descent."""
    trainer = _on_population if problem.X is None else _on_samples
    trained = trainer(problem, p, progress)
    return replace(trained, weights=task.averaged(trained.weights))


def _on_population(problem, p, progress):
    return population_flow(
        task.unit_teacher(problem), task.starts(problem), tolerance=p.tolerance, max_time=p.max_time,
        accuracy=p.accuracy, max_steps=p.max_steps, anchor=problem.anchor, precision=p.precision, device=p.device,
        progress=progress,
    )  # fmt: skip


def _on_samples(problem, p, progress):
    trained = gradient_flow(
        sampled.tasks(problem), task.starts(problem), tolerance=2 * p.tolerance, accuracy=p.accuracy,
        max_steps=p.max_steps, device=p.device, on_sphere=True, observe=sampled.observables(problem),
        progress=progress,
    )  # fmt: skip
    return sampled.halved(trained)
