"""Gradient flow of balanced deep linear networks, as an ordinary differential equation of their function alone.

Where W_jᵀW_j = W_{j+1}W_{j+1}ᵀ, gradient flow on a loss of gradient g = ∂L/∂β moves β = W_1 … W_L by

    dβ/dt = −|β|^{2−2/L} (g + (L − 1) β̂ β̂ᵀ g)

(Arora, Cohen and Hazan, "On the optimization of deep networks", theorem 1, for one output). In ω = |β|^{1/L} β̂, the one
column of W_1, this is dω/dt = −|ω|^{L−1} g with β = |ω|^{L−1} ω. Since g has components along the row space of X alone,
Vω is all that moves: k numbers, whose Jacobian is diagonal but for one term of rank one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import solve_ivp

from carryover.networks.deep_linear import Balanced
from carryover.training.course import Course
from carryover.training.factored import Factored
from carryover.training.history import History
from carryover.training.result import Divergence, Trained
from carryover.training.settings import check_arrays, check_not_negative, check_positive


class _Flow:
    """The equation of one network: the state w = Vω (..., k), beside what stays of ω outside the row space."""

    def __init__(self, data: Factored, targets: np.ndarray, start: np.ndarray, depth: int) -> None:
        self.data, self.targets, self.power = data, targets, depth - 1
        omega = start * np.linalg.norm(start) ** (1 / depth - 1)
        self.first = data.directions @ omega
        # Of a basis of all of space nothing is outside; rounding would leave something there, at a share of the start.
        whole = len(self.first) == len(omega)
        self._outside = np.zeros_like(omega) if whole else omega - self.first @ data.directions
        self._square = self._outside @ self._outside

    def _norm(self, w: np.ndarray) -> np.ndarray:
        return np.sqrt((w**2).sum(-1, keepdims=True) + self._square)

    def _residual(self, w: np.ndarray) -> np.ndarray:
        return self.data.values * self._norm(w) ** self.power * w - self.targets

    def loss(self, w: np.ndarray) -> np.ndarray:
        """Above the floor that no β gets below, (...)."""
        return (self._residual(w) ** 2).sum(-1) / (2 * self.data.samples)

    def coefficients(self, w: np.ndarray) -> np.ndarray:
        """β (..., d)."""
        return self._norm(w) ** self.power * (w @ self.data.directions + self._outside)

    def velocity(self, _time: float, w: np.ndarray) -> np.ndarray:
        return -(self._norm(w) ** self.power) * self.data.values * self._residual(w) / self.data.samples

    def jacobian(self, _time: float, w: np.ndarray) -> np.ndarray:
        norm, curvature = self._norm(w), self.data.values**2 / self.data.samples
        gradient = self.data.values * self._residual(w) / self.data.samples
        column = self.power * norm ** (self.power - 2) * (gradient + norm**self.power * curvature * w)
        matrix = -np.outer(column, w)
        matrix.flat[:: len(w) + 1] -= norm ** (2 * self.power) * curvature
        return matrix


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
    start. Curves hold loss and risk at log-spaced times, `checkpoints` of them; a run that is there from the start
    has them at time 0 alone. `weights` of the result are `Balanced`; `evaluations` are those of the gradient.

    The end is equation 5 of "Finetuning with linear teachers" (theorem 5.2): ω keeps what is outside the row space. Its
    flow is that of vanishing steps of gradient descent. A tolerance near accuracy² is below what the integration can
    tell from zero, and may never be seen to be reached.

    Raises ValueError for bad input, among it a start of zero, which the flow of two layers and more does not leave;
    Divergence where the integration fails.
    """
    targets, start, teacher = (np.asarray(values, dtype=np.float64) for values in (targets, start, teacher))
    check_positive(depth=depth, max_time=max_time, accuracy=accuracy, checkpoints=checkpoints)
    check_not_negative(tolerance=tolerance)
    check_arrays(("targets", targets, "runs k"), ("start", start, "runs d"), ("teacher", teacher, "runs d"))
    if not start.any(axis=1).all():
        raise ValueError("start must have no run of zeros: the flow of two layers and more does not leave it")
    history = History(len(start), checkpoints)
    course = Course(history, np.arange(len(start)))
    done, failed = (0, []) if not course.state else (course.state["done"], course.state["failed"])
    for run, s in list(enumerate(sets))[done:]:
        if course.due():
            course.save(done=run, failed=failed)
        flow = _Flow(data[s], targets[run], start[run], depth)
        times, path, evaluations = _follow(flow, tolerance, max_time, accuracy, checkpoints)
        if not len(times):
            failed.append(run)
            continue
        beta = flow.coefficients(path)
        values = {"time": times, "loss": flow.loss(path), "risk": (covariance * (beta - teacher[run]) ** 2).sum(1)}
        for place in range(len(times)):
            now = {name: value[place : place + 1] for name, value in values.items()}
            history.record(np.array([run]), now)
        converged = now["loss"] <= tolerance * (1 + accuracy)
        history.end(np.array([run]), [beta[-1:]], now, evaluations=evaluations, converged=converged)
        if progress is not None:
            progress({"step": run + 1, "active": len(start) - run - 1, "loss": float(values["loss"][-1])})
    course.end(done=len(start), failed=failed)
    if failed:
        raise Divergence(failed, "the flow of balanced networks could not be integrated")
    return history.trained(Balanced(history.stacked()[0], depth))


def _follow(
    flow: _Flow, tolerance: float, max_time: float, accuracy: float, checkpoints: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Times, states (times, k) and evaluations of the gradient; no times where the integration fails."""

    def missing(_time: float, w: np.ndarray) -> float:
        loss = float(flow.loss(w))
        return np.log(max(loss, float(np.finfo(float).tiny)) / tolerance) if tolerance else loss

    missing.terminal, missing.direction = True, -1  # type: ignore[attr-defined]  # as SciPy has it
    if flow.loss(flow.first) <= tolerance:
        return np.zeros(1), flow.first[None], 0
    scale = flow._norm(flow.first)[0]
    try:
        solved = solve_ivp(
            flow.velocity, (0, max_time), flow.first, method="BDF", jac=flow.jacobian, events=missing,
            dense_output=True, rtol=accuracy, atol=accuracy * scale,
        )  # fmt: skip
    except ValueError:  # where numbers are too large, the loss of its own step may not pass the tolerance again
        return np.empty(0), np.empty((0, len(flow.first))), 0
    if not solved.success:
        return np.empty(0), np.empty((0, len(flow.first))), solved.nfev
    times = np.geomspace(min(solved.t[1], solved.t[-1] / 2), solved.t[-1], checkpoints)
    return times, solved.sol(times).T, solved.nfev
