"""Gradient flow of a readout alone, on fixed features. It is linear, so it is solved in closed form.

The loss of a readout c of features Φ, L(c) = w |Φc − y|²/n, is quadratic. Along the flow ċ = −v ∂L/∂c, with the
singular value decomposition Φ = U S Vᵀ, the component of c along a column v_k of V approaches its optimum z_k alone,

    v_k·c(t) − z_k = (v_k·c(0) − z_k) e^{−λ_k t},   λ_k = 2wv s_k²/n,   z_k = u_k·y/s_k,

and the part of c orthogonal to all v_k is constant. For the whole distribution of inputs the same holds with the
kernel K = E φφᵀ = V diag(Λ) Vᵀ and λ_k = 2wv Λ_k.

Mean-field networks take means over their m units, features Φ/m, w = ½ and v = m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HALVINGS = 60  # of the ratio of two times, between which training stops: to rounding


@dataclass(frozen=True)
class Modes:
    """Directions along which a readout (m,) learns, with their rates and optima."""

    directions: np.ndarray  # (modes, m), orthonormal
    rates: np.ndarray  # (modes,) λ, falling
    optimum: np.ndarray  # (modes,) z
    floor: float  # the loss that no readout goes below
    speed: float  # v

    @classmethod
    def of_samples(cls, features: np.ndarray, y: np.ndarray, weight: float = 0.5, speed: float = 1.0) -> Modes:
        """Modes for the loss `weight` times the mean squared error of a fit of features (n, m) to y (n,)."""
        left, singular, right = np.linalg.svd(features, full_matrices=False)
        noise = np.finfo(float).eps * max(features.shape) * singular.max(initial=0)
        left, singular, right = left[:, singular > noise], singular[singular > noise], right[singular > noise]
        projections = left.T @ y
        residual = y - left @ projections
        rates = 2 * weight * speed * singular**2 / len(y)
        return cls(right, rates, projections / singular, weight * (residual @ residual) / len(y), speed)

    @classmethod
    def of_population(cls, kernel: np.ndarray, overlaps: np.ndarray, power: float, speed: float = 1.0) -> Modes:
        """Modes for half the mean squared error, over all inputs, of a readout of features φ to the teacher f*.

        `kernel` is E φφᵀ (m, m), `overlaps` is E φ f* (m,), `power` is E f*², and `speed` the factor v of the flow.
        """
        values, vectors = (array[..., ::-1] for array in np.linalg.eigh(kernel))  # falling eigenvalues
        # Directions whose eigenvalues are 0 up to rounding are not learned.
        known = values > np.finfo(float).eps * len(kernel) * values[0]
        values, directions = values[known], vectors[:, known].T
        projections = directions @ overlaps
        # Half the mean square of the part of f* that no readout represents.
        floor = max(0.0, power - (projections**2 / values).sum()) / 2
        return cls(directions, speed * values, projections / values, floor, speed)

    def loss(self, readout: np.ndarray, time: float = 0.0) -> float:
        """The loss of a readout (m,), or after a time of the flow from it; accurate to rounding even close to a fit."""
        error = np.exp(-self.rates * time) * (self.directions @ readout - self.optimum)
        return self.floor + self.rates @ error**2 / (2 * self.speed)

    def after(self, start: np.ndarray, time: float | np.ndarray) -> np.ndarray:
        """The readouts (..., m) of the flow from `start` (m,) at times (...)."""
        error = self.directions @ start - self.optimum
        return start + np.expm1(-np.multiply.outer(time, self.rates)) * error @ self.directions

    def descend(self, start: np.ndarray, rate: float, steps: int) -> np.ndarray:
        """The readout (m,) after so many steps of gradient descent from `start` (m,), each of the flow time `rate`."""
        error = self.directions @ start - self.optimum
        return start + ((1 - rate * self.rates) ** steps - 1) * error @ self.directions

    def stop(self, start: np.ndarray, time: float, tolerance: float) -> float:
        """The first time, up to `time`, at which the loss is at most the tolerance; `time` where there is none."""
        if self.loss(start) <= tolerance:
            return 0.0
        if tolerance <= self.floor or self.loss(start, time) > tolerance:
            return time
        # The loss above the floor falls by at most e^{−2λt} of the largest λ, and by at least that of the smallest λ.
        decay = np.log((self.loss(start) - self.floor) / (tolerance - self.floor))
        early = decay / (2 * self.rates[0])
        late = time if np.isfinite(time) else (decay + 1) / (2 * self.rates[-1])
        for _ in range(HALVINGS):
            middle = np.sqrt(early * late)
            early, late = (middle, late) if self.loss(start, middle) > tolerance else (early, middle)
        return late

    def least_squares(self, cutoff: float) -> np.ndarray:
        """The readout (m,) of least norm with the least loss along the directions whose singular values exceed `cutoff`
        times the largest: the limit of the flow from 0 without the other directions."""
        retained = self.rates > cutoff**2 * self.rates[:1]
        return self.optimum[retained] @ self.directions[retained]
