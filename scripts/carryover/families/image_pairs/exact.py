"""Solver: the limit of gradient descent on the squared error of a linear function, so that nothing is trained."""

import numpy as np

from carryover.training.result import Trained


def limit(pixels, labels, start, cutoff=0.0):
    """Coefficients (…, d): θ + X⁺(y − Xθ) from the start θ (…, d), for pixels X (…, n, d) and labels y (…, n).

    It is the solution nearest to the start, equation 1 of "Finetuning with linear teachers" for labels of any kind:
    those of real images are no linear function of them. Least squares where there are more samples than dimensions;
    from 0 the one of least norm. Directions up to the cutoff, a share of the largest singular value, stay as they are
    at the start.
    """
    missing = labels - (pixels @ start[..., None])[..., 0]
    rounding = max(pixels.shape[-2:]) * np.finfo(float).eps
    inverse = np.linalg.pinv(pixels, rtol=max(cutoff, rounding))
    return start + np.einsum("...dn,...n->...d", inverse, missing)


def solve(problem, p, progress=None):
    """`Trained` with coefficients (runs, draws, d)."""
    return ended(problem, limit(problem.pixels, problem.labels, problem.start[:, None], problem.cutoff))


def ended(problem, coefficients):
    """`Trained` with these coefficients (runs, draws, d) at its end; loss and risk are means over draws."""
    residual = (problem.pixels @ coefficients[..., None])[..., 0] - problem.labels
    return Trained.solved(coefficients, (residual**2).mean((-2, -1)) / 2, problem.errors(coefficients).mean(-1))
