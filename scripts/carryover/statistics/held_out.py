"""Held-out errors of kernel regression in closed form, and whether two regressions on the same samples differ.

Every sample is predicted from all others by one eigendecomposition: nothing is trained, and no sample is set aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import linalg, stats

from carryover.training.kernel_ridge import leave_one_out

STRENGTHS = np.logspace(-8, 4, 25)
"""Ridge strengths in units of the kernel's mean eigenvalue: from nearly interpolating to nearly constant."""
LEAST = 10
"""Samples of which a forecast says anything."""
_TINY = np.finfo(float).tiny
_LEAST_VARIANCE = 1e-30  # of errors that are the same, whose square is not 0 yet
_GROWTH = np.logspace(0, 7, 701)  # of the number of samples, until it decides


class HeldOut(NamedTuple):
    """Each sample predicted from all others.

    Attributes: predictions (n, r) of the targets; errors (n,), squared and summed over targets; fitted (n,), errors of
    regression without a penalty, as of training until all samples are fitted; kernel, the place of the one that was
    taken; duals (n, r), so that the regression of all samples is kernel @ duals plus a constant.
    """

    predictions: np.ndarray
    errors: np.ndarray
    fitted: np.ndarray
    kernel: int
    duals: np.ndarray


def predict_held_out(kernels: Sequence[np.ndarray], targets: np.ndarray) -> HeldOut:
    """Kernel ridge regression with an intercept, of the kernel (n, n) and the strength of least leave-one-out error.

    Targets (n, r) are numbers, or a column for each class. Predictions, though not errors, take the mean of all samples
    in place of that of the others: where nothing is learnt, the mean without a sample is on the side of other classes.
    """
    best, least, fitted = None, np.inf, np.array([np.inf])
    # The intercept has no penalty, so that only what is orthogonal to a constant is regressed.
    varying = linalg.helmert(len(targets)).T  # (n, n − 1)
    shift = (targets - targets.mean(axis=0)) / (len(targets) - 1)
    for place, kernel in enumerate(kernels):
        values, vectors = np.linalg.eigh(varying.T @ kernel @ varying)
        # What a constant kernel has apart from its constant is rounding, from which nothing is to be learnt.
        rounding = len(kernel) * np.finfo(float).eps * np.abs(kernel).max()
        values, vectors = np.where(values > rounding, values, 0.0), varying @ vectors
        scale = values.mean() or 1.0
        errors = np.stack([leave_one_out(values / scale, vectors, y, STRENGTHS) for y in targets.T], axis=2)
        squares = (errors**2).sum(axis=2)
        chosen = squares.mean(axis=1).argmin()
        if squares[0].mean() < fitted.mean():
            fitted = squares[0]
        if best is None or squares[chosen].mean() < least:
            least = squares[chosen].mean()
            duals = vectors @ ((vectors.T @ targets) / (values + STRENGTHS[chosen] * scale)[:, None])
            best = HeldOut(targets - errors[chosen] + shift, squares[chosen], fitted, place, duals)
    assert best is not None
    return best._replace(fitted=fitted)


class Difference(NamedTuple):
    """log₁₀ of the ratio of two mean errors, Student's interval, and how many more samples would decide on its sign if
    the ratio stayed as it is; ∞ where networks drawn anew differ by as much."""

    value: float
    low: float
    high: float
    more_samples: float


def compare_errors(
    first: Sequence[np.ndarray], second: Sequence[np.ndarray], confidence: float, of_next: bool = True
) -> Difference:
    """The difference of two lists of errors (n,), each of as many networks as were drawn at random, or of one.

    It is positive where the second are smaller. Samples are paired. The standard error of a log ratio of means is that
    of e/ē − e'/ē' (the delta method). To its square comes what m drawn networks add whose log errors have the variance
    v: v/m for their mean; v/m + v for the next one drawn (`of_next`), which is what a user trains, with Satterthwaite's
    degrees of freedom, since m is small. One network adds nothing, for its v is not known.
    """
    one, other = (np.maximum(np.mean(errors, axis=0), _TINY) for errors in (first, second))
    samples, value = len(one), float(np.log10(one.mean() / other.mean()))
    sampling = max((one / one.mean() - other / other.mean()).var(ddof=1) / np.log(10) ** 2, _LEAST_VARIANCE)
    logs = [np.log10(np.maximum(np.mean(errors, axis=1), _TINY)) for errors in (first, second) if len(errors) > 1]
    between = [of_drawn.var(ddof=1) * (1 / len(of_drawn) + of_next) for of_drawn in logs]

    def half(count: float | np.ndarray) -> np.ndarray:
        """Half of the interval from so many samples: sampling errors fall, the spread between networks does not."""
        total = sampling / count + sum(between)
        inverse = (sampling / count) ** 2 / (count - 1)
        inverse += sum(part**2 / (len(of_drawn) - 1) for part, of_drawn in zip(between, logs, strict=True))
        freedom = total**2 / inverse if of_next else count - 1
        return stats.t.ppf((1 + confidence) / 2, freedom) * np.sqrt(total)

    counts = samples * _GROWTH
    enough = half(counts) < abs(value)
    more = counts[enough.argmax()] - samples if enough.any() else np.inf
    return Difference(value, value - float(half(samples)), value + float(half(samples)), float(more))
