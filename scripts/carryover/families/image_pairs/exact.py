"""Solver: the limit of gradient descent on the squared error of a linear function, so that nothing is trained."""

from dataclasses import dataclass

import numpy as np

from carryover.families.image_pairs.task import Regression
from carryover.training.result import Trained


@dataclass(frozen=True)
class OnDraws(Trained):
    """Coefficients (runs, draws, d) as weights; what else there is of a run is a mean over draws."""

    errors: np.ndarray | None = None  # (runs, draws) share of the test images that are misclassified


def limit(pixels, labels, start):
    """Coefficients (…, d): θ + X⁺(y − Xθ) from the start θ (…, d), for pixels X (…, n, d) and labels y (…, n).

    It is the solution nearest to the start, equation 1 of "Finetuning with linear teachers" for labels of any kind:
    those of real images are no linear function of them. Least squares where there are more samples than dimensions;
    from 0 the one of least norm.
    """
    missing = labels[..., None] - pixels @ start[..., None]
    samples, dimension = pixels.shape[-2:]
    cutoff = max(samples, dimension) * np.finfo(float).eps
    if samples >= dimension:
        return start + (np.linalg.pinv(pixels, rtol=cutoff) @ missing)[..., 0]
    span, triangle = np.linalg.qr(pixels.mT)  # few samples: the pseudoinverse of n × n numbers alone
    return start + (span @ (np.linalg.pinv(triangle.mT, rtol=cutoff) @ missing))[..., 0]


def solve(problem, p, progress=None):
    """`Trained` with coefficients (cutoffs, d) of the `Regression` of a source task, `OnDraws` of a `task.Problem`."""
    if isinstance(problem, Regression):
        coefficients = problem.coefficients(np.array(p.cutoff))
        loss = problem.loss(coefficients)
        return Trained.solved(coefficients, loss, np.full_like(loss, np.nan))
    return ended(problem, limit(problem.pixels, problem.labels, problem.start[:, None]))


def ended(problem, coefficients, **known):
    """`OnDraws` with these coefficients (runs, draws, d) at its end."""
    residual = (problem.pixels @ coefficients[..., None])[..., 0] - problem.labels
    errors = problem.errors(coefficients)
    return OnDraws.solved(coefficients, (residual**2).mean((-2, -1)) / 2, errors.mean(-1), errors=errors, **known)
