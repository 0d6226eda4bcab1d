"""Solver: plain full-batch gradient descent, as the paper trains."""

from carryover.families.diagonal.ensembles import train
from carryover.training.descent import gradient_descent


def solve(problem, p, progress=None):
    return train(gradient_descent, problem, p, progress, max_steps=p.max_steps, learning_rate=p.learning_rate)
