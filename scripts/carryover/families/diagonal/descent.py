"""Solver: plain full-batch gradient descent, as the paper trains."""

from carryover.families.diagonal.ensembles import train
from carryover.training.descent import gradient_descent
from carryover.training.observables import effective_features


def solve(problem, p, progress=None):
    observe = {"effective_features": lambda beta, teacher: effective_features(beta[:, 0])}
    options = {"max_steps": p.max_steps, "learning_rate": p.learning_rate, "loss": p.loss}
    return train(
        gradient_descent, problem, p, progress, **options, observe=observe if p.loss == "cross_entropy" else None
    )
