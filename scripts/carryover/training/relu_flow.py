"""Gradient flow of shallow ReLU networks, for any number of outputs, in tens of steps.

Plain descent follows the flow with the step that its stiffest direction allows: 10³ to 10⁶ of them. Here every step is
one of the two-stage Rosenbrock method ROS2 (Verwer et al. 1999) used as a W-method, which is of second order whatever
matrix A stands for the Jacobian of the flow:

    (I − γhA) k₁ = F(θ),  (I − γhA) k₂ = F(θ + h k₁) − 2 k₁,  θ ← θ + h (3k₁ + k₂)/2,  error h (k₁ + k₂)/2.

A = −Jᵀ D J of the present activation pattern, D the curvature of the loss, is symmetric and needs one factor of a
matrix of the size of all samples per step (`relu_solves`), in single precision: its rounding is one more A. Every run
has its own step. The error in a unit is measured relative to its displacement since the start, or to a tenth of its
size where that is larger (`step_size.scale`). A step is rejected where this error exceeds the accuracy, or where the
loss rises by more than ten times that share, as it does beyond kinks: there the pattern of activations is no longer
that of A. Smaller rises come from stiff directions, which the next step damps, and let runs slide along kinks. After a
rejected step, steps grow slowly, for kinks stand at about equal distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.training import relu_kernel, step_size
from carryover.training.course import Course
from carryover.training.device import torch_device
from carryover.training.groups import keep
from carryover.training.history import History
from carryover.training.losses import LOSSES
from carryover.training.memory import even, in_pieces
from carryover.training.relu import Task, check_tasks, like
from carryover.training.relu_solves import ConjugateGradients, Factor, Solver, factored
from carryover.training.relu_tangent import Point, Tangent, Vector, of_runs
from carryover.training.result import Divergence, Trained
from carryover.training.settings import (
    check_accuracy,
    check_choice,
    check_not_negative,
    check_positive,
    trainable_layers,
)

_GAMMA = 1 - 0.5**0.5  # makes ROS2 L-stable
_RISE = 10.0  # of the accuracy: relative rise of the loss in a step
_RELIEF = 1.15  # by which the largest growth grows again after a step that ended beyond a kink
_FIRST = 0.01  # relative change of the fastest unit in the first step
_LONGEST = 1e30  # step, which single precision bears
_STILL = 1e-10  # relative change of all units that is rounding, in a step as long as all before
_PATIENCE = 300  # steps without a smaller loss: to and fro across a kink, or ever shorter ones
_INEXACT = 1e-3  # of the accuracy: relative residual of solutions by iteration
_REPORT = 10  # steps between calls of `progress`
_TINY = torch.finfo(torch.float64).tiny
_APART = 1.25  # ratio of times that are recorded: a closed-form risk costs more than a step on few samples
BYTES = {"cpu": 2**26, "cuda": 2**33}  # of a group at a time


def gradient_flow(
    tasks: Sequence[Task],
    start: Weights,
    *,
    tolerance: float | np.ndarray,
    accuracy: float = 0.03,
    max_steps: int = 10_000,
    loss: str = "squared",
    device: str = "auto",
    on_sphere: bool = False,
    trainable: Iterable[str] = ("first", "second"),
    observe: Mapping[str, Callable] | None = None,
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Train every run by gradient flow on L = Σ_o mean loss of output o, until L ≤ `tolerance`, a number or (runs,).

    tasks, start, `on_sphere`, `trainable` and `observe` are those of `relu.gradient_descent`. `accuracy` bounds the
    error that one step makes in the weights of any unit, relative to its displacement since the start, or to a tenth
    of its size where that is larger. `max_steps` is a budget of gradient `evaluations`, of which a step takes two; a
    run that would need more, or that stalls where steps no longer move it (samples that contradict each other or excite
    no unit, a kink that it cannot leave), ends with `converged` false; `at_rest` says whether it had come to the flow's
    own end. Curves hold up to `checkpoints` accepted steps, about evenly spaced in the logarithm of time, and the last
    one. Where the tangent kernel of many samples would not fit into the memory, equations are solved without it, which
    is said on stderr.

    Raises ValueError for bad input and Divergence for runs whose loss is not finite.
    """
    check_accuracy(accuracy)
    check_positive(max_steps=max_steps, checkpoints=checkpoints)
    check_not_negative(tolerance=tolerance)
    check_choice("loss", loss, LOSSES)
    moving = trainable_layers(trainable, ("first", "second"), ("first",))
    check_tasks(tasks, start, loss)
    place, history = torch_device(device), History(len(start.first), checkpoints, observe or ())
    solver = _solver(tasks, start, accuracy, place)
    wanted = np.broadcast_to(tolerance, len(start.first))

    def train(runs: np.ndarray) -> None:
        flow = _Flow(runs, tasks, start, loss, wanted[runs], place, on_sphere, moving, solver, dict(observe or {}))
        flow.follow(history, accuracy, max_steps, progress)

    with relu_kernel.threads(sum(task.y.shape[1] for task in tasks)):
        in_pieces(train, _pieces(tasks, start, place, solver is Factor))
    return history.trained(like(start, history.stacked()))


def _solver(tasks: Sequence[Task], start: Weights, accuracy: float, place: torch.device) -> Callable[..., Solver]:
    """What makes the `Solver` of a step."""
    _, H, D = start.first.shape
    if factored(sum(task.y.shape[1] for task in tasks), H, D, place):
        return Factor
    return partial(ConjugateGradients, precision=_INEXACT * accuracy)


def _pieces(tasks: Sequence[Task], start: Weights, place: torch.device, kernels: bool) -> list[np.ndarray]:
    """Runs in groups whose hidden responses, at three points, and kernels are borne at a time."""
    runs, H, D = start.first.shape
    samples = sum(task.y.shape[1] for task in tasks)
    size = BYTES[place.type] // (samples * (64 * H + 8 * samples * kernels) + 80 * H * D)
    return even(np.arange(runs), size)


class _Flow:
    """A group of runs, where each stands on its flow."""

    MOVING = ("start_first", "start_second", "time", "seen", "step", "growth", "still", "best", "waited")

    def __init__(
        self, runs: np.ndarray, tasks: Sequence[Task], start: Weights, loss: str, wanted: np.ndarray,
        place: torch.device, on_sphere: bool, trainable: tuple[str, ...], solver: Callable[..., Solver],
        observables: dict[str, Callable],
    ) -> None:  # fmt: skip
        self.runs, self.solver, self.observables = np.asarray(runs), solver, observables
        first, second = of_runs(start, runs, place)
        lengths = first.norm(dim=2, keepdim=True) if on_sphere else None
        X, y = [task.X[task.sets[runs]] for task in tasks], [task.y[runs] for task in tasks]
        self.tangent = Tangent(X, y, loss, place, trainable, lengths)
        self.start_first, self.start_second = first, second
        self.point = self.tangent.at(first, second)
        self.wanted, self.time = torch.as_tensor(wanted.copy(), device=place), torch.zeros_like(self.point.loss)
        self.seen = torch.zeros_like(self.time)
        flow = self.tangent.transposed(self.point, self.point.negative_gradients)
        speed = (_sizes(flow) / _sizes((first, second)).clamp_min(_TINY)).amax(1)
        self.growth = torch.full_like(self.time, step_size.GROW)
        self.best, self.waited = self.point.loss, torch.zeros_like(self.time)
        self.step, self.still = (_FIRST / speed.clamp_min(_TINY)).clamp(max=_LONGEST), speed == 0

    def follow(
        self, history: History, accuracy: float, max_steps: int, progress: Callable[[dict], None] | None
    ) -> None:
        """Until every run has ended."""
        course = Course(history, self.runs)
        if course.ended:
            return
        lost = (~torch.isfinite(self.point.loss)).nonzero()[:, 0].tolist()
        if lost:  # no step is accepted to such a place
            raise Divergence(lost, "gradient flow does not begin at a finite loss")
        evaluations = 1
        if course.state:
            self._go_on(course.state)
            evaluations = course.state["evaluations"]
        while True:
            if course.due():
                course.save(evaluations=evaluations, **self._state())
            stalled = self.still | (self.waited >= _PATIENCE)
            ended = (self.point.loss <= self.wanted) | stalled | (evaluations + 2 > max_steps)
            if ended.any():
                self._end(history, ended, evaluations)
                self._keep(~ended)
                if not len(self.runs):
                    course.end()
                    return
            if progress is not None and (evaluations // 2) % _REPORT == 0:
                progress({"step": evaluations // 2, "active": len(self.runs), "loss": float(self.point.loss.max())})
            self._advance(accuracy)
            evaluations += 2
            due = self.time > _APART * self.seen
            if due.any():
                history.record(self.runs[due.cpu().numpy()], self._observed(due))
                self.seen = torch.where(due, self.time, self.seen)

    def _end(self, history: History, ended: torch.Tensor, evaluations: int) -> None:
        """What is known of runs that end."""
        runs, point, values = self.runs[ended.cpu().numpy()], self.point[ended], self._observed(ended)
        history.record(runs, values, (self.time > self.seen)[ended])
        converged = point.loss <= self.wanted[ended]
        history.end(
            runs, (point.first, point.second), values, evaluations=evaluations, converged=converged,
            at_rest=self.still[ended] & ~converged,
        )  # fmt: skip

    def _observed(self, which: torch.Tensor) -> dict[str, torch.Tensor]:
        runs, point = self.runs[which.cpu().numpy()], self.point[which]
        values = {name: of(point.first, point.second, runs) for name, of in self.observables.items()}
        return {"time": self.time[which], "loss": point.loss, **values}

    def _keep(self, which: torch.Tensor) -> None:
        self.runs = self.runs[which.cpu().numpy()]
        self.tangent.keep(which)
        self.point = self.point[which]
        keep(self, ("wanted", *self.MOVING), which)

    def _state(self) -> dict[str, Any]:
        """What `_go_on` takes."""
        flow = {name: getattr(self, name) for name in self.MOVING}
        return {"runs": self.runs, "point": vars(self.point), "flow": flow}

    def _go_on(self, state: Mapping[str, Any]) -> None:
        """From the start to where these runs were in a `state`."""
        self._keep(torch.as_tensor(np.isin(self.runs, state["runs"])))
        self.point = Point(**state["point"])
        vars(self).update(state["flow"])

    def _advance(self, accuracy: float) -> None:
        """Try one step of every run."""
        tangent, point, h = self.tangent, self.point, self.step
        solve = self.solver(tangent, point, _GAMMA * h)
        k1 = solve(tangent.transposed(point, point.negative_gradients))
        ahead = _moved(tangent, point, [(h, k1)])
        there = tangent.transposed(ahead, ahead.negative_gradients)
        k2 = solve((there[0] - 2 * k1[0], there[1] - 2 * k1[1]))
        new = _moved(tangent, point, [(1.5 * h, k1), (0.5 * h, k2)])
        change = _sizes((k1[0] + k2[0], k1[1] + k2[1])) * (h / 2)[:, None]
        sizes = _sizes((point.first, point.second)).clamp_min(_TINY)
        displacement = _sizes((new.first - self.start_first, new.second - self.start_second))
        error = (change / step_size.scale(displacement, sizes)).amax(1) / accuracy
        # NaN fails every comparison, so a step that overflowed is rejected too.
        sound = solve.done & (new.loss <= point.loss * (1 + _RISE * accuracy))
        accepted = sound & (error <= 1)
        moved = (_sizes((new.first - point.first, new.second - point.second)) / sizes).amax(1)
        self.still = accepted & (moved <= _STILL) & (h >= self.time)
        self.point = new.where(accepted, point)
        self.waited = torch.where(self.point.loss < self.best, 0, self.waited + 1)
        self.best = self.best.minimum(self.point.loss)
        self.time = torch.where(accepted, self.time + h, self.time)
        self.step = (h * step_size.factor(error, sound, most=self.growth)).clamp(max=_LONGEST)
        self.growth = torch.where(sound, (self.growth * _RELIEF).clamp(max=step_size.GROW), 1.0)


def _moved(tangent: Tangent, point: Point, moves: Sequence[tuple[torch.Tensor, Vector]]) -> Point:
    first = point.first + sum(h[:, None, None] * k[0] for h, k in moves)
    second = point.second + sum(h[:, None, None] * k[1] for h, k in moves)
    return tangent.at(first, second)


def _sizes(vector: Vector) -> torch.Tensor:
    """Length of each unit's weights in a vector of their space, (R, H)."""
    return (vector[0].square().sum(2) + vector[1].square().sum(1)).sqrt()
