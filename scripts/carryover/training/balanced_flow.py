"""Gradient flow of balanced deep linear networks, as an ordinary differential equation of their function alone.

Where W_jᵀW_j = W_{j+1}W_{j+1}ᵀ, gradient flow on a loss of gradient g = ∂L/∂β moves β = W_1 … W_L by

    dβ/dt = −|β|^{2−2/L} (g + (L − 1) β̂ β̂ᵀ g)

(Arora, Cohen and Hazan, "On the optimization of deep networks", theorem 1, for one output). In ω = |β|^{1/L} β̂, the one
column of W_1, this is dω/dt = −|ω|^{L−1} g with β = |ω|^{L−1} ω. Since g has components along the row space of X alone,
Vω is all that moves: k numbers, whose Jacobian is diagonal but for one term of rank one. So a step that is implicit in
it costs no more than one that is not, and all runs take theirs together, each of its own length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from carryover.training.integrate import History, Values, integrate
from carryover.training.linear_limits import Factored
from carryover.training.result import Trained
from carryover.training.steppers import RODAS, Flow


def balanced_flow(
    data: Sequence[Factored],
    targets: np.ndarray,
    sets: np.ndarray,
    start: np.ndarray,
    *,
    depth: int,
    **settings: Any,
) -> Trained:
    """Follow every run's gradient flow on |Xβ − y|²/(2n), until it is `tolerance` above its floor, or to `max_time`.

    The end is equation 5 of "Finetuning with linear teachers" (theorem 5.2): ω keeps what is outside the row space. The
    flow is the limit of gradient descent with vanishing steps.

    Parameters
    ----------
    data, targets, sets
        `Factored` inputs, t = Uᵀy (runs, k), and the data of each run (runs,).
    start : (runs, d)
        Coefficients, none of them all zero.
    risk : function of indices of runs (R,) and their coefficients β (R, d) -> (R,)
    accuracy : float
        Bound of a step's error, relative to each component of ω and to |ω| at the start. A tolerance near accuracy²
        is below what the integration can tell from zero, and may never be reached.

    Returns
    -------
    Trained
        The `coefficients` β (runs, d) of its weights are all that is known of them.

    Raises
    ------
    Divergence
        The loss of some runs is not finite.
    """
    history = History(len(start))
    integrate(_Flow(data, targets, sets, np.asarray(start, dtype=np.float64), depth=depth, **settings), history)
    return history.trained(lambda beta: SimpleNamespace(coefficients=beta))


class _Flow(Flow):
    """Each run's state w = Vω (R, k), with the constant part of ω `outside` the row space (R, d)."""

    PER_RUN = ("sets", "values", "targets", "outside", "square", "scale", "samples", "w", "velocity", "loss", "time",
               "step")  # fmt: skip
    EVALUATIONS, ORDER = RODAS.EVALUATIONS, RODAS.ORDER

    def __init__(
        self, data: Sequence[Factored], targets: np.ndarray, sets: np.ndarray, start: np.ndarray, *, depth: int,
        risk: Callable[[np.ndarray, np.ndarray], np.ndarray], tolerance: float, max_time: float, accuracy: float = 1e-6,
    ) -> None:  # fmt: skip
        self.data, self.power, self.risk_of = data, depth - 1, risk
        self.tolerance, self.max_time, self.accuracy, self.evaluations = tolerance, max_time, accuracy, 0
        self.runs, self.sets = np.arange(len(start)), np.asarray(sets)
        omega = start * np.linalg.norm(start, axis=1, keepdims=True) ** (1 / depth - 1)
        first = np.stack([data[s].directions @ own for s, own in zip(self.sets, omega, strict=True)])
        # Nothing is outside a basis of the whole space; rounding would leave something there, at a share of the start.
        self.outside = np.zeros_like(omega) if first.shape == omega.shape else omega - self._along(first)
        self.square = torch.as_tensor(np.square(self.outside).sum(1, keepdims=True))
        self.w, self.targets = torch.as_tensor(first), torch.as_tensor(targets)
        self.values = torch.as_tensor(np.stack([data[s].values for s in self.sets]))
        self.samples = torch.tensor([[float(data[s].samples)] for s in self.sets], dtype=torch.float64)
        self.scale = self._norm(self.w)
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        self.begin((self.velocity.abs() / (self.w.abs() + self.scale)).amax(1))

    def unrecorded(self) -> torch.Tensor:
        return self.time == 0

    def observed(self, which: torch.Tensor) -> dict[str, Values]:
        risk = self.risk_of(self.runs, self._coefficients())
        return {"time": self.time[which], "loss": self.loss[which], "risk": risk[which.numpy()]}

    def weights(self) -> list[Values]:
        return [self._coefficients()]

    def _coefficients(self) -> np.ndarray:
        """β (R, d)."""
        w = self.w.numpy()
        return self._norm(self.w).numpy() ** self.power * (self._along(w) + self.outside)

    def _along(self, w: np.ndarray) -> np.ndarray:
        """wV (R, d), the part of ω in the row space."""
        omega = np.empty((len(w), self.data[0].directions.shape[1]))
        for s in np.unique(self.sets):
            omega[self.sets == s] = w[self.sets == s] @ self.data[s].directions
        return omega

    def _norm(self, w: torch.Tensor) -> torch.Tensor:
        """|ω| (R, 1)."""
        return (w.square().sum(1, keepdim=True) + self.square).sqrt()

    def _residual(self, w: torch.Tensor) -> torch.Tensor:
        return self.values * self._norm(w) ** self.power * w - self.targets

    def _loss(self, w: torch.Tensor) -> torch.Tensor:
        """Above the floor that no β gets below, (R,)."""
        return self._residual(w).square().sum(1) / (2 * self.samples[:, 0])

    def _gradient(self, w: torch.Tensor) -> torch.Tensor:
        """Of the loss in Vβ, (R, k)."""
        return self.values * self._residual(w) / self.samples

    def _velocity(self, w: torch.Tensor) -> torch.Tensor:
        return -(self._norm(w) ** self.power) * self._gradient(w)

    def _jacobian(self) -> tuple[torch.Tensor, torch.Tensor]:
        """(c, u) of ∂velocity/∂w = −diag(c) − u wᵀ, each (R, k)."""
        norm, curvature = self._norm(self.w), self.values.square() / self.samples
        gradient = self._gradient(self.w) + norm**self.power * curvature * self.w
        return norm ** (2 * self.power) * curvature, self.power * norm ** (self.power - 2) * gradient

    def advance(self) -> torch.Tensor:
        self.evaluations += self.EVALUATIONS
        h = self.length()
        curvature, column = self._jacobian()
        diagonal = 1 / (RODAS.GAMMA * h[:, None]) + curvature
        column = column / diagonal
        share = 1 + (self.w * column).sum(1, keepdim=True)

        def solved(right: torch.Tensor) -> torch.Tensor:  # by Sherman and Morrison
            plain = right / diagonal
            return plain - column * ((self.w * plain).sum(1, keepdim=True) / share)

        w, error = RODAS.step(self._velocity, solved, self.w, self.velocity, h[:, None])
        size = (error.abs() / (self.w.abs().maximum(w.abs()) + self.scale)).amax(1) / self.accuracy
        accepted = self.finish(h, size, torch.isfinite(size), w=w)
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        return accepted
