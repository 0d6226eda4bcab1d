"""Solver: gradient descent, as the papers train, with the population risk along the way."""

from carryover.families.relu.observables import observables, tasks, tolerances
from carryover.training.relu import gradient_descent

PORTABLE = "distribution"  # units that start small choose their place early, large steps swing for long


def solve(problem, p, progress=None):
    return gradient_descent(
        tasks(problem), problem.start, learning_rate=p.learning_rate,
        tolerance=tolerances(problem, p.tolerance, p.loss), max_epochs=p.max_epochs, batch_size=p.batch_size,
        shuffles=problem.shuffles, loss=p.loss, precision=p.precision, device=p.device,
        observe=observables(problem, p.loss), progress=progress,
    )  # fmt: skip
