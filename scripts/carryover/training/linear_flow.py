"""Gradient flow of deep linear networks on |Xβ − y|²/(2n): where it ends, and the path of balanced networks.

With the thin singular value decomposition X = U diag(s) V of the data (`Factored`), the loss of coefficients β is, up
to a constant, Σ_i (s_i b_i − t_i)²/(2n), where b = Vβ and t = Uᵀy. A gradient in β has components along V alone.
Targets are t (runs, k) and coefficients (runs, d). All is float64.

Where W_jᵀW_j = W_{j+1}W_{j+1}ᵀ, gradient flow on a loss of gradient g = ∂L/∂β moves β = W_1 … W_L by

    dβ/dt = −|β|^{2−2/L} (g + (L − 1) β̂ β̂ᵀ g)

(Arora, Cohen and Hazan, "On the optimization of deep networks", theorem 1, for one output). In ω = |β|^{1/L} β̂, the one
column of W_1, this is dω/dt = −|ω|^{L−1} g with β = |ω|^{L−1} ω. Since g has components along the row space of X alone,
Vω is all that moves: k numbers, whose Jacobian is diagonal but for one term of rank one. So a step that is implicit in
it costs no more than one that is not, and all runs take theirs together, each of its own length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from carryover.theory.linear_teachers import balanced_limit
from carryover.training.integrate import History, Values, integrate
from carryover.training.result import Trained
from carryover.training.steppers import RODAS, Flow

_NEGLIGIBLE = 1e-200  # strength of weight decay that is none: products with it would underflow


@dataclass(frozen=True)
class Factored:
    """X (n, d) as U diag(s) V, of rank k ≤ min(n, d)."""

    left: np.ndarray  # U (n, k), orthonormal columns
    values: np.ndarray  # s (k,), positive, falling
    directions: np.ndarray  # V (k, d), an orthonormal basis of the row space of X
    samples: int  # n, by which the loss is divided

    @classmethod
    def of(cls, X: np.ndarray) -> Factored:
        """The factors of X (n, d), not all 0; directions that rounding alone tells from zero are left out."""
        left, values, directions = np.linalg.svd(np.asarray(X, dtype=np.float64), full_matrices=False)
        rank = int((values > max(X.shape) * np.finfo(float).eps * values[0]).sum())
        return cls(left[:, :rank], values[:rank], directions[:rank], len(X))

    @classmethod
    def population(cls, eigenvalues: np.ndarray) -> Factored:
        """Endlessly many inputs whose covariance has these eigenvalues (d,) along the axes, positive.

        The loss is (β − β*)ᵀΣ(β − β*)/2 for targets y = Σ^{1/2}β*.
        """
        identity = np.eye(len(eigenvalues))
        return cls(identity, np.sqrt(eigenvalues), identity, 1)

    def targets(self, y: np.ndarray) -> np.ndarray:
        """t = Uᵀy, (runs, k), of targets y (runs, n)."""
        return np.asarray(y, dtype=np.float64) @ self.left


def finetuning_limit(data: Factored, targets: np.ndarray, start: np.ndarray, depth: int) -> np.ndarray:
    """Where balanced networks of coefficients `start` (runs, d) end: `balanced_limit`."""
    start = np.asarray(start, dtype=np.float64)
    fitted = (np.asarray(targets) / data.values) @ data.directions
    return balanced_limit(fitted, start, start - (start @ data.directions.T) @ data.directions, depth)


def on_features(data: Factored, targets: np.ndarray, features: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """The readout alone is fitted: Φw with w the minimiser of |XΦw − y|²/(2n) + ridge |w|²/2 (equations 9, 12, 118).

    `features` are Φ (d, r), of full column rank r ≤ n, and the ridge (runs,) is not negative.
    """
    left, values, right = np.linalg.svd((data.values[:, None] * data.directions) @ features, full_matrices=False)
    readout = (targets @ left) * values / (values**2 + data.samples * ridge[:, None]) @ right
    return readout @ features.T


def weight_decay_limit(data: Factored, targets: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Where networks of two layers end under weight decay, the penalty strength/2 Σ|W_l|² with strengths (runs,).

    Among networks of one β the penalty is least where they are balanced, strength |β|, so β minimises
    |Xβ − y|²/(2n) + strength |β|: a norm and not its square. β = 0 where |Xᵀy|/n ≤ strength; else it is the ridge
    solution of the strength μ at which μ|β(μ)| = strength, the one root of a function that rises with μ. For
    strength 0 it is X⁺y, where networks of any depth from vanishing weights end ("Features are fate", theorem 3.5).
    """
    # of XᵀX/n, and Xᵀy/n, the negative gradient at β = 0
    values, gradient = data.values**2 / data.samples, data.values * targets / data.samples
    least = np.linalg.norm(gradient, axis=1)

    def missing(log_ridge: np.ndarray, run: np.ndarray) -> np.ndarray:
        norm = np.linalg.norm(gradient[run.astype(int)] / (values + np.exp(log_ridge)[..., None]), axis=-1)
        return np.log(norm) + log_ridge - np.log(strength[run.astype(int)])  # log of μ|β(μ)|/strength

    ridge = np.where(strength < least, 0.0, np.inf)
    decayed = np.flatnonzero((strength > _NEGLIGIBLE) & (strength < least))
    if len(decayed):
        from scipy.optimize import elementwise  # it takes longer to import than the limits without weight decay take

        # least/(largest value + μ) ≤ |β(μ)| ≤ least/(smallest value + μ) bound μ from both sides
        given, lacking = strength[decayed], (least - strength)[decayed]
        low, high = (np.log(given * value / lacking) for value in (values[-1], values[0]))
        margin = 1e-6 + 1e-9 * np.abs(low)
        root = elementwise.find_root(missing, (low - margin, high + margin), args=(decayed,))
        ridge[decayed] = np.exp(root.x)
    with np.errstate(invalid="ignore"):
        components = gradient / (values + ridge[:, None])
    return components @ data.directions


def balanced_flow(
    data: Sequence[Factored], targets: np.ndarray, sets: np.ndarray, start: np.ndarray, *, depth: int, **settings: Any
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
    return history.result(lambda beta: SimpleNamespace(coefficients=beta))


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
        # ω (runs, d) has a part in the row space of the inputs, Vω (runs, k), which moves, and a constant `outside`.
        omega = start * np.linalg.norm(start, axis=1, keepdims=True) ** (1 / depth - 1)  # |β|^{1/L} β̂
        first = np.stack([data[s].directions @ own for s, own in zip(self.sets, omega, strict=True)])
        # If V spans the whole space, nothing is outside; the difference would leave rounding errors there.
        self.outside = np.zeros_like(omega) if first.shape == omega.shape else omega - self._along(first)
        self.square = torch.as_tensor(np.square(self.outside).sum(1, keepdims=True))  # |outside|², (R, 1)
        self.w, self.targets = torch.as_tensor(first), torch.as_tensor(targets)
        self.values = torch.as_tensor(np.stack([data[s].values for s in self.sets]))
        self.samples = torch.tensor([[float(data[s].samples)] for s in self.sets], dtype=torch.float64)
        self.scale = self._norm(self.w)  # |ω| at the start, to which errors of steps are relative
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        self.begin((self.velocity.abs() / (self.w.abs() + self.scale)).amax(1))

    def find_unrecorded(self) -> torch.Tensor:
        return self.time == 0

    def observe_runs(self, which: torch.Tensor) -> dict[str, Values]:
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

    def advance(self) -> torch.Tensor:
        self.evaluations += self.EVALUATIONS
        h, norm, curvature = self.length(), self._norm(self.w), self.values.square() / self.samples
        # J = ∂velocity/∂w is −curvature |ω|^{2(L − 1)} on the diagonal, less c wᵀ of rank one, where the column c is
        # (L − 1) |ω|^{L − 3} (g + |ω|^{L − 1} curvature w) for the gradient g in Vβ, and L − 1 is `power`. A step
        # solves with M = 1/(γh) − J = diagonal + c wᵀ, so `column` ends as c / diagonal. All are (R, k) or (R, 1).
        column = self._gradient(self.w) + norm**self.power * curvature * self.w
        diagonal = 1 / (RODAS.GAMMA * h[:, None]) + norm ** (2 * self.power) * curvature
        column = self.power * norm ** (self.power - 2) * column / diagonal
        share = 1 + (self.w * column).sum(1, keepdim=True)

        def solve(right: torch.Tensor) -> torch.Tensor:  # M⁻¹ right, by Sherman and Morrison
            plain = right / diagonal
            return plain - column * ((self.w * plain).sum(1, keepdim=True) / share)

        w, error = RODAS.step(self._velocity, solve, self.w, self.velocity, h[:, None])
        # the largest relative error of a component, (R,), in units of the tolerated one
        size = (error.abs() / (self.w.abs().maximum(w.abs()) + self.scale)).amax(1) / self.accuracy
        accepted = self.finish(h, size, torch.isfinite(size), w=w)
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        return accepted
