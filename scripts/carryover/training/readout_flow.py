"""Gradient flow of the readout alone of diagonal linear networks: it is linear, and solved instead of followed.

With the first layer fixed, β = β₀ + c Xᵀα with c = w1₊² + w1₋² in each dimension. In the singular vectors of
X√c = U s Vᵀ residuals r decay one by one: Uᵀr(t) = e^{−κt} Uᵀr(0), with κ = 2s²/n for the mean squared error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from carryover.networks.diagonal import Weights
from carryover.training.result import Trained

_FINER = 4  # risks between two checkpoints, among which the smallest is looked for
_EARLY, _LATE = 0.1, 10.0  # where curves begin and end, in units of the shortest and of the longest time of decay


def readout_flow(
    X: np.ndarray,
    y: np.ndarray,
    start: Weights,
    *,
    tolerance: float,
    max_time: float = np.inf,
    teacher: np.ndarray,
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Solve each run's flow of the readout until its mean squared error is `tolerance`, or to `max_time`.

    The linear probe of "feature reuse in multi-task learning and finetuning".

    Parameters
    ----------
    X, y, teacher : (runs, n, D), (runs, n), (runs, D)
    start : Weights
        Networks of one output.
    checkpoints : int
        Points of the curves. The smallest risk is that of the start and of 4 × `checkpoints` log-spaced times.

    Returns
    -------
    Trained
        A run that neither tolerance nor time stops ends in the limit, with `converged` false. Risks are ‖β − teacher‖².
        `evaluations` is 1: all follows from the residual at the start.
    """
    runs = len(X)
    readouts = np.empty((2, runs, 1, X.shape[2]))
    ends = {name: np.empty(runs) for name in ("loss", "risk_final", "risk_best")}
    curves = {name: np.full((runs, checkpoints), np.nan) for name in ("time", "loss", "risk")}
    for run in range(runs):
        flow = _Flow(X[run], y[run], start, run)
        end = min(max_time, flow.reaches(tolerance))
        times = flow.times(end, _FINER * checkpoints)
        risks = ((flow.coefficients(np.append(times, (0, end))) - teacher[run]) ** 2).sum(1)
        ends["loss"][run], ends["risk_final"][run], ends["risk_best"][run] = flow.loss(end), risks[-1], risks.min()
        recorded = slice(_FINER - 1, len(times), _FINER)
        values = times[recorded], [flow.loss(time) for time in times[recorded]], risks[: len(times)][recorded]
        for curve, value in zip(curves.values(), values, strict=True):
            curve[run, : len(value)] = value
        readouts[:, run, 0] = flow.readout(end)
        if progress is not None:
            progress({"step": run + 1, "active": runs - run - 1})
    return Trained(
        weights=Weights(start.first_plus, start.first_minus, *readouts),
        evaluations=np.ones(runs, dtype=np.int64),
        converged=ends["loss"] <= tolerance,
        time=curves.pop("time"),
        curves=curves,
        **ends,
    )


class _Flow:
    """The flow of one network, at any time."""

    def __init__(self, X: np.ndarray, y: np.ndarray, start: Weights, run: int) -> None:
        self.first = start.first_plus[run], -start.first_minus[run]
        self.second = start.second_plus[run, 0], start.second_minus[run, 0]
        self.start = sum(w1 * w2 for w1, w2 in zip(self.first, self.second, strict=True))
        self.scale = np.hypot(*self.first)
        U, s, self.directions = linalg.svd(X * self.scale, full_matrices=False, check_finite=False)
        moving = s > max(X.shape) * np.finfo(float).eps * s.max(initial=0)
        U, self.s, self.directions = U[:, moving], s[moving], self.directions[moving]
        residual = y - X @ self.start
        self.residual = U.T @ residual
        self.samples = len(y)
        self.floor = np.square(residual - U @ self.residual).mean()
        self.rates = 2 * self.s**2 / self.samples

    def loss(self, time: float) -> float:
        return self.floor + np.square(np.exp(-self.rates * time) * self.residual).sum() / self.samples

    def reaches(self, tolerance: float) -> float:
        """The time at which the loss is `tolerance`; inf where it never is."""
        if self.loss(0) <= tolerance:
            return 0.0
        if self.floor >= tolerance:
            return np.inf
        before, after = 0.0, np.log(2 * self.loss(0) / (tolerance - self.floor)) / (2 * self.rates.min())
        while before < (middle := (before + after) / 2) < after:  # the loss falls: halve until numbers are too coarse
            before, after = (middle, after) if self.loss(middle) > tolerance else (before, middle)
        return after

    def times(self, end: float, count: int) -> np.ndarray:
        """Log-spaced ones up to the end, or until all has decayed."""
        if end == 0 or not len(self.rates):
            return np.empty(0)
        last = min(end, _LATE / self.rates.min())
        return np.geomspace(min(_EARLY / self.rates.max(), last), last, count)

    def coefficients(self, times: np.ndarray) -> np.ndarray:
        """β at some times, (times, D)."""
        return self.start + self.scale * self._change(times)

    def readout(self, time: float) -> tuple[np.ndarray, ...]:
        """Both paths' readouts."""
        change = self._change(np.array([time]))[0] / np.where(self.scale > 0, self.scale, 1.0)
        return tuple(w2 + w1 * change for w1, w2 in zip(self.first, self.second, strict=True))

    def _change(self, times: np.ndarray) -> np.ndarray:
        """(β − β₀)/√c at some times, (times, D)."""
        return (-np.expm1(-self.rates * times[:, None]) / self.s * self.residual) @ self.directions
