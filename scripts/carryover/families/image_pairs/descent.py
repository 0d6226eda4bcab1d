"""Solver: plain gradient descent on the squared error of a linear function, step by step."""

import numpy as np

from carryover.errors import UserError
from carryover.families.image_pairs import exact


def solve(problem, p, progress=None):
    """`Trained` as of the limit; a run has converged where its loss has on every draw come to the tolerance.

    Coefficients leave their start along the images alone, θ + Xᵀa, and the loss depends on them through XXᵀ: a step
    costs n² and not n d.
    """
    pixels, n = problem.pixels, problem.pixels.shape[1]
    gram = pixels @ pixels.mT / n
    steepest = np.linalg.eigvalsh(gram)[..., -1].max()
    if p.learning_rate * steepest >= 2:
        raise UserError(f"learning_rate is {p.learning_rate:g}, but descent diverges from {2 / steepest:.3g} on.")
    start = problem.start.swapaxes(0, 1)[None]  # (1, d, runs)
    residual = problem.labels[..., None] - pixels @ start
    along, evaluations = np.zeros_like(residual), np.zeros(residual.shape[-1], dtype=np.int64)
    for _ in range(p.max_steps):
        running = _losses(residual).max(0) > p.tolerance
        if not running.any():
            break
        evaluations += running
        along += (p.learning_rate / n * running) * residual
        residual -= p.learning_rate * (gram @ residual) * running
    coefficients = (start + pixels.mT @ along).transpose(2, 0, 1)
    converged = _losses(residual).max(0) <= p.tolerance
    return exact.ended(problem, coefficients, evaluations=evaluations, converged=converged)


def _losses(residual):
    """Half the mean squared error, (draws, runs), of residuals (draws, n, runs)."""
    return (residual**2).mean(1) / 2
