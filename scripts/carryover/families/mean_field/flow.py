"""Solver: gradient flow, which plain descent follows with small steps, input weights on the sphere; exact risks."""

from carryover.families.mean_field import trained
from carryover.training.population_flow import population_flow
from carryover.training.relu_flow import gradient_flow

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    """`Trained`. Times and losses are those of descent."""
    settings = {"accuracy": p.accuracy, "progress": progress}
    return trained.run(
        problem, p,
        lambda teacher, start, **kwargs: population_flow(teacher, start, max_time=p.max_time, **kwargs, **settings),
        lambda tasks, start, **kwargs: gradient_flow(tasks, start, **kwargs, **settings),
    )  # fmt: skip
