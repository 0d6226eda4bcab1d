"""Solvers of linear functions on images that are fitted by squared error; the stage tests what they find.

They take a `pretrain.Problem`, in pretraining a `Regression`, and parameters `p` of the stage, and return `Trained`.
"""

import numpy as np

from carryover.errors import UserError
from carryover.families.image_pairs.pretrain import Regression
from carryover.training.result import Trained


def exact(problem, p):
    """The limit of gradient descent in closed form, without training.

    From the start θ it is θ + X⁺(y − Xθ): of all solutions the one nearest to θ, or a least-squares solution where
    there are more samples than dimensions. This is equation 1 of "Finetuning with linear teachers", for labels y that
    need not be a linear function of the pixels X. The weights of the `Trained` are these coefficients, (runs, draws,
    d). For the `Regression` of a source task they are those of each of the parameter's estimators, (estimators, d).
    """
    if isinstance(problem, Regression):
        coefficients = problem.coefficients(p.estimator)
        loss = problem.loss(coefficients)
        return Trained.from_solution(coefficients, loss, np.full_like(loss, np.nan))
    pixels, start = problem.pixels, problem.start[:, None]
    missing = problem.labels[..., None] - pixels @ start[..., None]
    samples, dimension = pixels.shape[-2:]
    cutoff = max(samples, dimension) * np.finfo(float).eps
    if samples >= dimension:
        return _finish(problem, start + (np.linalg.pinv(pixels, rtol=cutoff) @ missing)[..., 0])
    # With fewer samples than dimensions, Xᵀ = QR turns X⁺ into Q (Rᵀ)⁺, the pseudoinverse of a small n × n matrix.
    span, triangle = np.linalg.qr(pixels.mT)
    return _finish(problem, start + (span @ (np.linalg.pinv(triangle.mT, rtol=cutoff) @ missing))[..., 0])


def descent(problem, p):
    """Plain gradient descent, step by step. A run has converged if its loss is at most the tolerance on every draw.

    Coefficients are θ + Xᵀa with the start θ, and the residual changes with a through XXᵀ alone, so a step costs n²
    operations and not n d.
    """
    pixels, n = problem.pixels, problem.pixels.shape[1]
    gram = pixels @ pixels.mT / n
    curvature = np.linalg.eigvalsh(gram)[..., -1].max()
    if p.learning_rate * curvature >= 2:
        raise UserError(f"learning_rate is {p.learning_rate:g}, but descent diverges from {2 / curvature:.3g} on.")
    start = problem.start.swapaxes(0, 1)[None]  # (1, d, runs)
    residual = problem.labels[..., None] - pixels @ start  # (draws, n, runs), and so is a
    a, evaluations = np.zeros_like(residual), np.zeros(residual.shape[-1], dtype=np.int64)
    for _ in range(p.max_steps):
        # (runs,): the loss of some draw is above the tolerance
        running = (residual**2).mean(1).max(0) / 2 > p.tolerance
        if not running.any():
            break
        evaluations += running
        a += (p.learning_rate / n * running) * residual
        residual -= p.learning_rate * (gram @ residual) * running
    coefficients = (start + pixels.mT @ a).transpose(2, 0, 1)
    converged = (residual**2).mean(1).max(0) / 2 <= p.tolerance
    return _finish(problem, coefficients, evaluations=evaluations, converged=converged)


def _finish(problem, coefficients, **known):
    """`Trained` with these final coefficients (runs, draws, d), one fit for each draw of samples.

    The loss is half the mean squared error over draws and samples. The risk is NaN: the stage computes the test error.
    """
    residual = (problem.pixels @ coefficients[..., None])[..., 0] - problem.labels  # pixels are (draws, n, d)
    loss = (residual**2).mean((-2, -1)) / 2
    return Trained.from_solution(coefficients, loss, risk=np.full_like(loss, np.nan), **known)
