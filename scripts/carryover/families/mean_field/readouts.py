"""Readouts that learn on features that stay: the gradient flow in closed form, and what it tends to.

The loss of a readout c of features Φ, L(c) = 1/2n |Φc/m − y|², is quadratic. Mean-field gradient flow is ċ = −m ∂L/∂c:
what gradient descent with the learning rate η m does in the limit of small η, at the time η · steps. With the singular
value decomposition Φ/m = U S Vᵀ the component of c along each column v_k of V goes to its optimum z_k by itself,

    v_k·c(t) − z_k = (v_k·c(0) − z_k) e^{−λ_k t},   λ_k = m s_k²/n,   z_k = u_k·y/s_k,

and what is orthogonal to all of them stays. Over the whole distribution of inputs it is the same, with the features'
kernel K = E φφᵀ/m² = V diag(Λ) Vᵀ and λ_k = m Λ_k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from carryover.networks.relu import Weights
from carryover.theory.kernels import function_power, relu_kernel

CUT = 4
HALVINGS = 60  # of the ratio of two times, between which training stops: to rounding


@dataclass(frozen=True)
class Modes:
    """Directions in which the readout of a network of `width` units learns, and where to."""

    width: int
    directions: np.ndarray  # (modes, m), orthonormal
    rates: np.ndarray  # (modes,) λ, falling
    optimum: np.ndarray  # (modes,) z
    floor: float  # the loss that no readout goes below

    @classmethod
    def of_samples(cls, features: np.ndarray, y: np.ndarray) -> Modes:
        """Of the mean squared error of Φc/m, with features Φ (n, m), as a fit to y (n,)."""
        n, width = features.shape
        left, singular, right = np.linalg.svd(features / width, full_matrices=False)
        known = singular > np.finfo(float).eps * max(n, width) * singular[0]  # the others are rounding
        left, singular, right = left[:, known], singular[known], right[known]
        seen = left.T @ y
        rest = y - left @ seen
        return cls(width, right, width * singular**2 / n, seen / singular, rest @ rest / (2 * n))

    @classmethod
    def of_population(cls, quadratic: Quadratic) -> Modes:
        """Of the mean over all inputs, x ~ N(0, I), of the squared error to a teacher."""
        kernel, overlaps = quadratic.kernel, quadratic.overlaps
        values, vectors = (array[..., ::-1] for array in np.linalg.eigh(kernel))
        known = values > np.finfo(float).eps * len(kernel) * values[0]
        values, directions = values[known], vectors[:, known].T
        seen = directions @ overlaps
        floor = max(0.0, quadratic.power - (seen**2 / values).sum()) / 2
        return cls(len(kernel), directions, len(kernel) * values, seen / values, floor)

    def loss(self, readout: np.ndarray) -> float:
        """Half the mean squared error of a readout (m,)."""
        return self._loss(self.directions @ readout - self.optimum)

    def flow(self, start: np.ndarray, time: float, tolerance: float = 0.0) -> tuple[np.ndarray, float]:
        """(readout (m,), time of its stop) of the flow from `start` (m,), which ends at `time`, or before it when its
        loss has come down to the tolerance."""
        off = self.directions @ start - self.optimum
        stop = self._stop(off, time, tolerance)
        return start + np.expm1(-self.rates * stop) * off @ self.directions, stop

    def least_squares(self, cutoff: float) -> np.ndarray:
        """The readout (m,) of least norm with the least loss among the directions with singular values above `cutoff`
        times the largest: the flow from 0 for endless time, without the others."""
        retained = self.rates > cutoff**2 * self.rates[:1]
        return self.optimum[retained] @ self.directions[retained]

    def _loss(self, off: np.ndarray) -> float:
        return self.floor + self.rates @ off**2 / (2 * self.width)

    def _stop(self, off: np.ndarray, time: float, tolerance: float) -> float:
        """The first time, up to `time`, at which the loss is at most the tolerance; `time` where there is none."""

        def reached(t: float) -> bool:
            return self._loss(np.exp(-self.rates * t) * off) <= tolerance

        if reached(0.0):
            return 0.0
        if tolerance <= self.floor or not reached(time):
            return time
        # What is above the floor falls by e^{−2 λ t} at most, of the largest λ.
        early = np.log((self._loss(off) - self.floor) / (tolerance - self.floor)) / (2 * self.rates[0])
        late = time
        for _ in range(HALVINGS):
            middle = np.sqrt(early * late)
            early, late = (early, middle) if reached(middle) else (middle, late)
        return late


def descended(features, y, start, rate, time, max_steps, tolerance):
    """(readouts (k, m), steps (k,), rate) of plain gradient descent c ← c − η m ∂L/∂c from `start` (k, m) on features Φ
    (n, m) and y (n,), which ends at a time, after `max_steps`, or where the loss is at most the tolerance.

    A rate η of 2/λ₁ or more would diverge: it is cut by factors of 4.
    """
    n, width = features.shape
    fastest = np.linalg.norm(features, 2) ** 2 / (n * width)
    readout, taken, active = start.copy(), np.zeros(len(start), dtype=np.int64), np.arange(len(start))
    while rate * fastest >= 2:
        rate /= CUT
    steps = min(max_steps, round(time / rate))
    for step in range(steps + 1):
        taken[active] = step
        residual = readout[active] @ features.T / width - y
        left = (residual**2).mean(1) / 2 > tolerance
        active = active[left]
        if step == steps or not len(active):
            break
        readout[active] -= rate / n * residual[left] @ features
    return readout, taken, rate


@dataclass(frozen=True)
class Quadratic:
    """Mean squared error over x ~ N(0, I) of any readout of a network, against a teacher; both are means over units."""

    kernel: np.ndarray  # (m, m) E φφᵀ/m² of the network's features
    overlaps: np.ndarray  # (m,) E φ f*/m
    power: float  # E f*²

    @classmethod
    def of(cls, network: Weights, teacher: Weights) -> Quadratic:
        """Of the features of a network (m, d) and a teacher (m*, d) with the readout (1, m*)."""
        m, m_star, c_star = len(network.first), len(teacher.first), teacher.second[0]
        kernel = relu_kernel(network.first, network.first) / m**2
        overlaps = relu_kernel(network.first, teacher.first) @ c_star / (m * m_star)
        return cls(kernel, overlaps, float(function_power(c_star, teacher.first)))

    def risk(self, readout: np.ndarray) -> float:
        """Of a readout (m,)."""
        return max(0.0, readout @ self.kernel @ readout - 2 * readout @ self.overlaps + self.power)


@dataclass(frozen=True)
class Case:
    """Readouts that learn on the features of one network from one data set."""

    runs: np.ndarray  # (k,) of the problem
    starts: np.ndarray  # (k, m)
    features: np.ndarray  # Φ (n, m)
    y: np.ndarray  # (n,)
    risk: Callable[[np.ndarray], float]  # of a readout (m,)


def cases(problem, progress=None) -> Iterator[Case]:
    """Every network of a problem with each of its data sets; progress is called after each network."""
    for index, (network, teacher) in enumerate(pairs(problem, progress)):
        risk, mine = Quadratic.of(network, teacher).risk, problem.networks == index
        for which in np.unique(problem.sets[mine]):
            runs = np.flatnonzero(mine & (problem.sets == which))
            starts = np.where((problem.readout[runs] == "pretrained")[:, None], network.second, 0.0)
            yield Case(runs, starts, network.responses(problem.X[which]), problem.y[which], risk)


def pairs(problem, progress=None) -> Iterator[tuple[Weights, Weights]]:
    """Each network with its teacher."""
    count = len(problem.start.first)
    for index in range(count):
        yield problem.start[index], problem.teacher[index]
        if progress is not None:
            progress({"step": index + 1, "active": count - index - 1})
