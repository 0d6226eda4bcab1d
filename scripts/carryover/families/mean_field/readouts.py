"""Readouts of mean-field networks that learn alone: what they learn from, plain descent, and their exact risk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from carryover.networks.relu import Weights
from carryover.theory.kernels import function_power, relu_kernel

CUT = 4


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
