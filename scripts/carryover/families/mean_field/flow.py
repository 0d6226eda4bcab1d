"""Solver: gradient flow, which plain descent follows with small steps, input weights on the sphere; exact risks."""

from dataclasses import replace

from carryover.families.mean_field import sampled, task
from carryover.training.relu_flow import gradient_flow

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained` on samples. Losses are half the mean squared error, times those of descent."""
    trained = gradient_flow(
        sampled.tasks(problem), task.starts(problem), tolerance=2 * p.tolerance, accuracy=p.accuracy,
        max_steps=p.max_steps, device=p.device, on_sphere=True, observe=sampled.observables(problem),
        progress=progress,
    )  # fmt: skip
    trained = sampled.halved(trained)
    return replace(trained, weights=task.averaged(trained.weights))
