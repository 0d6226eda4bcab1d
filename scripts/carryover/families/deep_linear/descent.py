"""Solver: gradient descent on all layers, or on the readout alone, as the papers train."""

from carryover.training.deep_linear import gradient_descent


def solve(problem, p, progress=None):
    """`Trained`; its risk is the expected squared error."""
    readout_alone = getattr(p, "protocol", "") == "linear_transfer"
    return gradient_descent(
        problem.data, problem.reduced_targets(), problem.sets, problem.weights(), teacher=problem.teacher,
        covariance=problem.eigenvalues, trainable=("readout",) if readout_alone else ("hidden", "readout"),
        learning_rate=p.learning_rate, tolerance=p.tolerance,
        max_steps=p.max_steps, weight_decay=problem.weight_decay, precision=p.precision, device=p.device,
        progress=progress,
    )  # fmt: skip
