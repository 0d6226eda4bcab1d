"""Gradient flow of shallow ReLU networks on the exact population loss of a ReLU teacher, in tens of steps.

Loss, teacher, anchor and sphere are those of `population`, whose descent follows this flow with small steps. The flow
is smooth, for there are no samples whose side a unit could change, and what limits an explicit step is stability long
before accuracy: so steps are those of `chebyshev`, and every run has its own. Along the flow on the sphere

    dv_h/dt = −(I − v̂_h v̂_hᵀ) (∂L/∂v_h + anchor (v_h − v_h(0))),  da_h/dt = −∂L/∂a_h,

and points are brought back to the sphere before their gradient is taken. Gradients within a step may be in single
precision. Those at its ends are in double precision, and give the loss with hardly any work beside them: as
v_h · G_h = E[(f − f*) relu(v_h · x)], Σ_h a_h v_h · G_h = E[(f − f*) f] and L = ½ (E[(f − f*) f] − E[f f*] + E[f*²]).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_kernel
from carryover.training import chebyshev, step_size
from carryover.training.course import Course
from carryover.training.device import torch_device
from carryover.training.groups import keep
from carryover.training.history import History
from carryover.training.memory import in_pieces
from carryover.training.population import Group, checked, chunks
from carryover.training.relu import like
from carryover.training.result import Divergence, Trained
from carryover.training.settings import PRECISIONS, check_accuracy, check_choice, check_not_negative, check_positive

_FIRST = 0.01  # relative change of the fastest unit in the first step
_ORDER = 3  # of the error that is estimated
_STAGES = 100  # at most: beyond, single precision would show
_RADIUS = 1.2  # times the spectral radius, which power iteration comes up to from below
_ITERATIONS = (5, 1)  # of the power method at the start, and later, where it goes on from what it has
_LASTS = 5  # accepted steps
_REPORT = 10  # steps between calls of `progress`
_ROUNDING = 4 * torch.finfo(torch.float64).eps  # of a loss, by the square of all coefficients' sum
_STILL = 1e-100  # a smaller spectral radius limits no step
_TINY = torch.finfo(torch.float64).tiny


def population_flow(
    teacher: Weights,
    start: Weights,
    *,
    tolerance: float,
    max_time: float,
    accuracy: float = 0.03,
    max_steps: int = 100_000,
    anchor: float | np.ndarray = 0.0,
    precision: str = "float32",
    device: str = "auto",
    checkpoints: int = 64,
    progress: Callable[[dict], None] | None = None,
) -> Trained:
    """Train every run by gradient flow on L + ½ anchor Σ_h |v_h − v_h(0)|², until L ≤ `tolerance` or `max_time`.

    teacher, start, `anchor` and what is said of losses are those of `population.population_descent`; a time is the
    sum of its learning rates. `accuracy` bounds the error that one step makes in the weights of any unit, relative to
    its displacement since the start, or to a tenth of its size where that is larger. `max_steps` is a budget of
    gradient `evaluations`: a run that would need more ends with `converged` false, as does one that reaches
    `max_time`. Curves hold up to `checkpoints` accepted steps, about evenly spaced in the logarithm of time.
    `precision` is that of the gradients within a step.

    Raises ValueError for bad input, Divergence for runs whose loss is not finite.
    """
    check_accuracy(accuracy)
    check_positive(max_steps=max_steps, max_time=max_time, checkpoints=checkpoints)
    check_not_negative(tolerance=tolerance)
    check_choice("precision", precision, PRECISIONS)
    anchors = checked(teacher, start, anchor)
    place, dtype = torch_device(device), getattr(torch, precision)
    history = History(len(start.first), checkpoints)

    def train(runs: np.ndarray) -> None:
        flow = _Flow(runs, start, teacher, anchors, dtype, place, max_time)
        if (lost := ~torch.isfinite(flow.loss)).any():
            raise Divergence(np.flatnonzero(lost.cpu()).tolist(), "gradient flow lost its finite values")
        flow.follow(history, tolerance, accuracy, max_steps, progress)

    in_pieces(train, chunks(start, teacher, torch.float64, place))
    return history.trained(like(start, history.stacked()))


class _Flow:
    """A group of runs, where each stands on its flow. Units are (R, H, D + 1): input weights, then readout."""

    MOVING = ("start", "units", "flow", "loss", "energy", "time", "step", "evaluations", "radius", "vector", "age")

    def __init__(
        self, runs: np.ndarray, start: Weights, teacher: Weights, anchors: np.ndarray, dtype: torch.dtype,
        place: torch.device, max_time: float,
    ) -> None:  # fmt: skip
        self.runs, self.max_time = np.asarray(runs), max_time
        self.exact, self.quick = (
            Group(runs, start, teacher, 1.0, anchors, kind, place) for kind in (torch.float64, dtype)
        )
        directions, readout = self.exact.teacher
        self.power = (readout[:, None] @ relu_kernel(directions, directions) @ readout[:, :, None])[:, 0, 0]
        first, second = self.exact.weights()
        self.units, self.flow, self.loss, self.energy = self._at(torch.cat([first, second.mT], 2))
        self.start, self.time = self.units, torch.zeros_like(self.loss)
        speed = _relative(self.flow, self.units.norm(dim=2))
        self.step = (_FIRST / speed.clamp_min(_TINY)).clamp(max=max_time)
        self.evaluations = torch.ones_like(self.time, dtype=torch.int64)
        self.radius, self.vector = torch.zeros_like(self.time), self.flow
        self.age = torch.full_like(self.evaluations, -1)  # accepted steps since the radius was found; −1: never

    def __len__(self) -> int:
        return len(self.runs)

    def follow(
        self, history: History, tolerance: float, accuracy: float, max_steps: int,
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
        while True:
            if course.due():
                course.save(tries=tries, runs=self.runs, flow={name: getattr(self, name) for name in self.MOVING})
            converged = self.loss <= tolerance
            stalled = (self.time + self.step == self.time) | (self.time >= self.max_time)
            ended = converged | stalled | (self.evaluations + _ITERATIONS[0] + 2 > max_steps)
            if ended.any():
                weights = self.units[:, :, :-1], self.units[:, :, -1:].mT
                history.end(
                    self.runs, weights, self._observed(), ended, evaluations=self.evaluations, converged=converged
                )  # fmt: skip
                self._keep(~ended)
                if not len(self):
                    course.end()
                    return
            if progress is not None and tries % _REPORT == 0:
                progress({"step": tries, "active": len(self), "loss": float(self.loss.max())})
            accepted = self._advance(accuracy, max_steps)
            if accepted.any():
                history.record(self.runs, self._observed(), accepted)
            tries += 1

    def _observed(self) -> dict[str, torch.Tensor]:
        return {"time": self.time, "loss": self.loss, "risk": 2 * self.loss}

    def _keep(self, which: torch.Tensor) -> None:
        keep(self, ("runs", "power", *self.MOVING), which)
        for group in (self.exact, self.quick):
            group.keep(which)

    def _at(self, units: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Units on their sphere, where the flow goes from there, the loss, and the loss with the anchor's penalty."""
        first, second, flow = self.exact.flow(units[:, :, :-1], units[:, :, -1:])
        directions, readout = self.exact.teacher
        shared = (second.mT @ relu_kernel(first, directions) @ readout[:, :, None])[:, 0, 0]
        loss = ((-(second * flow[:, :, -1:]).sum((1, 2)) - shared + self.power) / 2).clamp_min(0)
        return torch.cat([first, second], 2), flow, loss, loss + self.exact.penalty()

    def _advance(self, accuracy: float, max_steps: int) -> torch.Tensor:
        """Try one step of every run; the mask of those whose step was accepted."""
        self._find_radius()
        step, stages = self._affordable(max_steps)
        units, flow, loss, energy = self._at(self._moved(step, stages))
        error = 0.8 * (self.units - units) + 0.4 * step[:, None, None] * (self.flow + flow)
        scale = step_size.scale((units - self.start).norm(dim=2), self.units.norm(dim=2))
        size = _relative(error, scale) / accuracy
        # The flow never climbs. NaN fails every comparison, so a step that overflowed is rejected too.
        sound = energy <= self.energy * (1 + 1e-9) + self._rounding()
        accepted = sound & (size <= 1)
        block = accepted[:, None, None]
        self.units, self.flow = torch.where(block, units, self.units), torch.where(block, flow, self.flow)
        self.loss, self.energy = torch.where(accepted, loss, self.loss), torch.where(accepted, energy, self.energy)
        there = torch.where(step == self.max_time - self.time, self.max_time, self.time + step)
        self.time = torch.where(accepted, there, self.time)
        self.step = step * step_size.factor(size, sound, order=_ORDER)
        self.age = torch.where(accepted, self.age + 1, _LASTS)  # a rejected step may have been an unstable one
        self.evaluations += torch.as_tensor(stages, device=step.device)
        return accepted

    def _affordable(self, max_steps: int) -> tuple[torch.Tensor, np.ndarray]:
        """The next step (R,), cut where stages, the budget or the time end, and its number of stages (R,)."""
        time, step, radius, evaluations = (
            values.cpu().numpy() for values in (self.time, self.step, self.radius, self.evaluations)
        )
        most = np.minimum(_STAGES, max_steps - evaluations)
        stable = chebyshev.LIMIT * (most.astype(float) ** 2 - 1) / np.maximum(radius, _STILL)
        step = np.minimum(np.minimum(step, stable), self.max_time - time)
        return torch.as_tensor(step, device=self.time.device), np.minimum(chebyshev.stages_for(step, radius), most)

    def _rounding(self) -> torch.Tensor:
        """How far off a loss may be, (R,)."""
        own = self.units[:, :, :-1].norm(dim=2) * self.units[:, :, -1].abs()
        return _ROUNDING * (own.sum(1) + self.exact.teacher[1].abs().sum(1)) ** 2

    def _moved(self, step: torch.Tensor, stages: np.ndarray) -> torch.Tensor:
        """Units after one step, before they are brought back to the sphere."""
        table = np.zeros((len(stages), stages.max() + 1, 4))
        for run, count in enumerate(stages):
            table[run, : count + 1] = chebyshev.coefficients(int(count))
        mu, nu, tilde, gamma = torch.as_tensor(table, device=step.device)[..., None, None].unbind(2)
        counts, h = torch.as_tensor(stages, device=step.device)[:, None, None], step[:, None, None]
        before, now = self.units, self.units + tilde[:, 1] * h * self.flow
        for j in range(2, int(stages.max()) + 1):
            flow = self.quick.flow(now[:, :, :-1], now[:, :, -1:])[2]
            new = (1 - mu[:, j] - nu[:, j]) * self.units + mu[:, j] * now + nu[:, j] * before
            new += h * (tilde[:, j] * flow + gamma[:, j] * self.flow)
            before, now = now, torch.where(j <= counts, new, now)
        return now

    def _find_radius(self) -> None:
        """Spectral radius of the flow's Jacobian by the power method, for the runs whose radius is too old."""
        stale = (self.age < 0) | (self.age >= _LASTS)
        if not stale.any():
            return
        iterations = torch.where(self.age < 0, _ITERATIONS[0], _ITERATIONS[1]) * stale
        nudge = _length(self.units) * torch.finfo(self.quick.first.dtype).eps ** 0.5
        for done in range(int(iterations.max())):
            unit = self.vector / _length(self.vector).clamp_min(_TINY)
            there = self.units + nudge * unit
            change = (self.quick.flow(there[:, :, :-1], there[:, :, -1:])[2] - self.flow) / nudge
            going = done < iterations
            self.vector = torch.where(going[:, None, None], change, self.vector)
            self.radius = torch.where(going, _RADIUS * _length(change)[:, 0, 0], self.radius)
        self.evaluations += iterations
        self.age = torch.where(stale, 0, self.age)


def _length(units: torch.Tensor) -> torch.Tensor:
    """Of all units together, (R, 1, 1)."""
    return units.flatten(1).norm(dim=1)[:, None, None]


def _relative(change: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """The largest change of a unit, relative to sizes (R, H), (R,)."""
    return (change.norm(dim=2) / sizes.clamp_min(_TINY)).amax(1)
