"""Solver: gradient flow, which plain descent follows with small steps, in tens of steps."""

from carryover.families.relu.observables import observables, tasks, tolerances
from carryover.training.relu_flow import gradient_flow

PORTABLE = "distribution"  # units that start small choose their place early


def solve(problem, p, progress=None):
    return gradient_flow(
        tasks(problem), problem.start, tolerance=tolerances(problem, p.tolerance, p.loss), accuracy=p.accuracy,
        max_steps=p.max_steps, loss=p.loss, device=p.device, observe=observables(problem, p.loss), progress=progress,
    )  # fmt: skip
