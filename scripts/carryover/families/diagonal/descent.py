"""Solver: plain full-batch gradient descent, as the paper trains."""

from carryover.families.diagonal.ensembles import train
from carryover.training.diagonal_descent import gradient_descent
from carryover.training.losses import effective_features, group_norm, l1_norm

# Along training on cross-entropy, which goes on after the samples are fitted.
OBSERVED = {
    "effective_features": lambda beta, teacher: effective_features(beta[:, 0]),
    "l1_norm": lambda beta, teacher: l1_norm(beta[:, 0]),
    "group_norm": lambda beta, teacher: group_norm(beta),
}


def solve(problem, p, progress=None):
    settings = {name: getattr(p, name) for name in ("max_steps", "learning_rate", "loss")}
    if p.loss == "cross_entropy":
        settings |= {"normalised": p.normalised, "observe": OBSERVED}
    return train(gradient_descent, problem, p, progress, trainable=problem.trainable, **settings)
