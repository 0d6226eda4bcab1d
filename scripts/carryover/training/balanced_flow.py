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

import numpy as np
import torch

from carryover.networks.deep_linear import Balanced
from carryover.training import rodas, step_size
from carryover.training.course import Course
from carryover.training.factored import Factored
from carryover.training.groups import keep
from carryover.training.history import History
from carryover.training.result import Divergence, Trained
from carryover.training.settings import check_arrays, check_not_negative, check_positive

_FIRST = 0.01  # relative change of the fastest component in the first step
_REPORT = 20  # steps between calls of `progress`
_TINY = torch.finfo(torch.float64).tiny


def balanced_flow(
    data: Sequence[Factored],
    targets: np.ndarray,
    sets: np.ndarray,
    start: np.ndarray,
    *,
    depth: int,
    teacher: np.ndarray,
    covariance: float | np.ndarray = 1.0,
    tolerance: float,
    max_time: float,
    accuracy: float = 1e-6,
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Follow every run's gradient flow on |Xβ − y|²/(2n), until it is `tolerance` above its floor, or to `max_time`.

    targets: t = Uᵀy (runs, k); sets: (runs,) the data of each run; start: coefficients (runs, d); teacher: (runs, d),
    from which the risk Σ covariance (β − teacher)² is measured, with the eigenvalues (d,) of the inputs' covariance
    along the axes, or a number. `accuracy` bounds a step's error, relative to each component of ω and to |ω| at the
    start. Curves hold up to `checkpoints` steps, about evenly spaced in the logarithm of time; a run that is there from
    the start has its start alone. `weights` of the result are `Balanced`; `evaluations` are those of the gradient.

    The end is equation 5 of "Finetuning with linear teachers" (theorem 5.2): ω keeps what is outside the row space. Its
    flow is that of vanishing steps of gradient descent. A tolerance near accuracy² is below what the integration can
    tell from zero, and may never be seen to be reached.

    Raises ValueError for bad input, among it a start of zero, which the flow of two layers and more does not leave;
    Divergence for runs whose loss is not finite.
    """
    targets, start, teacher = (np.asarray(values, dtype=np.float64) for values in (targets, start, teacher))
    check_positive(depth=depth, max_time=max_time, accuracy=accuracy, checkpoints=checkpoints)
    check_not_negative(tolerance=tolerance)
    check_arrays(("targets", targets, "runs k"), ("start", start, "runs d"), ("teacher", teacher, "runs d"))
    if not start.any(axis=1).all():
        raise ValueError("start must have no run of zeros: the flow of two layers and more does not leave it")
    history = History(len(start), checkpoints)

    def risk(runs: np.ndarray, beta: np.ndarray) -> np.ndarray:
        return (covariance * (beta - teacher[runs]) ** 2).sum(1)

    flow = _Flow(data, targets, sets, start, depth, risk)
    flow.follow(history, tolerance, max_time, accuracy, progress)
    return history.trained(Balanced(history.stacked()[0], depth))


class _Flow:
    """Where each run (R,) stands on its flow: the state w = Vω (R, k), beside what stays of ω outside the row space.

    `risk` is a function of indices of runs and their coefficients (·, d).
    """

    FIXED = ("sets", "values", "targets", "outside", "square", "scale", "samples")
    MOVING = ("runs", "w", "velocity", "loss", "time", "step", "evaluations")

    def __init__(
        self, data: Sequence[Factored], targets: np.ndarray, sets: np.ndarray, start: np.ndarray, depth: int,
        risk: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> None:  # fmt: skip
        self.data, self.power, self.risk = data, depth - 1, risk
        self.runs, self.sets = np.arange(len(start)), np.asarray(sets)
        omega = start * np.linalg.norm(start, axis=1, keepdims=True) ** (1 / depth - 1)
        first = np.stack([data[s].directions @ own for s, own in zip(self.sets, omega, strict=True)])
        # Of a basis of all of space nothing is outside; rounding would leave something there, at a share of the start.
        self.outside = np.zeros_like(omega) if first.shape == omega.shape else omega - self._along(first)
        self.square = torch.as_tensor(np.square(self.outside).sum(1, keepdims=True))
        self.w, self.targets = torch.as_tensor(first), torch.as_tensor(targets)
        self.values = torch.as_tensor(np.stack([data[s].values for s in self.sets]))
        self.samples = torch.tensor([[float(data[s].samples)] for s in self.sets], dtype=torch.float64)
        self.scale = self._norm(self.w)
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        self.time = torch.zeros_like(self.loss)
        fastest = (self.velocity.abs() / (self.w.abs() + self.scale)).amax(1)
        self.step = _FIRST / fastest.clamp_min(_TINY)
        self.evaluations = torch.zeros_like(self.time, dtype=torch.int64)

    def follow(
        self, history: History, tolerance: float, max_time: float, accuracy: float,
        progress: Callable[[dict], None] | None,
    ) -> None:  # fmt: skip
        """Until every run has ended."""
        course = Course(history, self.runs)
        if course.ended:
            return
        tries = 0
        if course.state:
            self._keep(torch.as_tensor(np.isin(self.runs, course.state["runs"])))
            vars(self).update(course.state["flow"])
            tries = course.state["tries"]
        else:
            history.record(self.runs, self._observed(), self.loss <= tolerance)
        while True:
            if course.due():
                course.save(tries=tries, runs=self.runs, flow={name: getattr(self, name) for name in self.MOVING})
            if (lost := ~torch.isfinite(self.loss)).any():
                raise Divergence(self.runs[lost.numpy()].tolist(), "the flow of balanced networks lost finite values")
            converged = self.loss <= tolerance
            ended = converged | (self.time >= max_time) | (self.time + self.step == self.time)
            if ended.any():
                history.end(
                    self.runs, [self._coefficients()], self._observed(), ended, evaluations=self.evaluations,
                    converged=converged,
                )  # fmt: skip
                self._keep(~ended)
                if not len(self.runs):
                    course.end()
                    return
            if progress is not None and tries % _REPORT == 0:
                progress({"step": tries, "active": len(self.runs), "loss": float(self.loss.max())})
            accepted = self._advance(accuracy, max_time)
            history.record(self.runs, self._observed(), accepted)
            tries += 1

    def _keep(self, which: torch.Tensor) -> None:
        keep(self, (*self.FIXED, *self.MOVING), which)

    def _observed(self) -> dict[str, torch.Tensor | np.ndarray]:
        return {"time": self.time, "loss": self.loss, "risk": self.risk(self.runs, self._coefficients())}

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

    def _advance(self, accuracy: float, max_time: float) -> torch.Tensor:
        """Try one step of every run, up to `max_time`; the mask of those whose step was accepted."""
        last = self.time + self.step >= max_time
        h = torch.where(last, max_time - self.time, self.step)
        curvature, column = self._jacobian()
        diagonal = 1 / (rodas.GAMMA * h[:, None]) + curvature
        column = column / diagonal
        share = 1 + (self.w * column).sum(1, keepdim=True)

        def solved(right: torch.Tensor) -> torch.Tensor:  # by Sherman and Morrison
            plain = right / diagonal
            return plain - column * ((self.w * plain).sum(1, keepdim=True) / share)

        w, error = rodas.step(self._velocity, solved, self.w, self.velocity, h[:, None])
        size = (error.abs() / (self.w.abs().maximum(w.abs()) + self.scale)).amax(1) / accuracy
        accepted = size <= 1  # NaN is not
        self.w = torch.where(accepted[:, None], w, self.w)
        self.velocity, self.loss = self._velocity(self.w), self._loss(self.w)
        self.time = torch.where(accepted, torch.where(last, max_time, self.time + h), self.time)
        self.step = h * step_size.factor(size, torch.isfinite(size), order=rodas.ORDER)
        self.evaluations += rodas.STAGES
        return accepted
