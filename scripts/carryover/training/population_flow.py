"""Gradient flow of shallow ReLU networks on the exact population loss of a ReLU teacher, in tens of steps.

Loss, teacher, anchor and sphere are those of `population`, whose descent follows this flow with small steps. The flow
is smooth, for there are no samples whose side a unit could change, and what limits an explicit step is stability long
before accuracy: so steps are those of `steppers.RKC2`, and every run has its own. Along the flow on the sphere

    dv_h/dt = −(I − v̂_h v̂_hᵀ) (∂L/∂v_h + anchor (v_h − v_h(0))),  da_h/dt = −∂L/∂a_h,

and points are brought back to the sphere before their gradient is taken. Gradients within a step may be in single
precision. Those at its ends are in double precision, and give the loss at hardly any further cost: as
v_h · G_h = E[(f − f*) relu(v_h · x)], Σ_h a_h v_h · G_h = E[(f − f*) f] and L = ½ (E[(f − f*) f] − E[f f*] + E[f*²]).
"""

from __future__ import annotations

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_kernel
from carryover.training.devices import in_chunks, torch_device
from carryover.training.history import History, Values
from carryover.training.integrate import Ensemble, Progress, integrate
from carryover.training.population import Group, angle_chunks
from carryover.training.relu import like
from carryover.training.result import Divergence, Trained
from carryover.training.steppers import FIRST, RKC2, error_scale, step_factor

_STAGES = 100  # at most: beyond, single precision would show
_RADIUS = 1.2  # times the spectral radius, which power iteration approaches from below
_ITERATIONS = (5, 1)  # of the power method at the start, and later, from the last vector on
_LASTS = 5  # accepted steps, for which a spectral radius is used
_ROUNDING = 4 * torch.finfo(torch.float64).eps  # of a loss, relative to the squared sum of all coefficients
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
    progress: Progress | None = None,
) -> Trained:
    """Train every run by gradient flow on L + ½ anchor Σ_h |v_h − v_h(0)|², until L ≤ `tolerance` or `max_time`.

    Parameters
    ----------
    teacher, start, anchor
        Those of `population.population_descent`.
    max_time : float
        Time is the sum of learning rates.
    accuracy : float
        Bound of the error that one step makes in the weights of any unit, relative to its displacement since the
        start, or to a tenth of its size where that is larger.
    max_steps : int
        Budget of gradient evaluations; a run over it ends with `converged` false, as does one at `max_time`.
    precision : str
        Of the gradients within a step.
    checkpoints : int
        Curves hold so many accepted steps at most, about evenly spaced in the logarithm of time.

    Raises
    ------
    Divergence
        The loss at the start is not finite.
    """
    anchors = np.broadcast_to(anchor, len(start.first))
    place, dtype = torch_device(device), getattr(torch, precision)
    history = History(len(start.first), checkpoints)

    def train(runs: np.ndarray) -> None:
        flow = _Flow(runs, start, teacher, anchors, dtype, place, tolerance, max_time, accuracy, max_steps)
        if (lost := ~torch.isfinite(flow.loss)).any():
            raise Divergence(np.flatnonzero(lost.cpu()).tolist(), "gradient flow lost its finite values")
        integrate(flow, history, progress)

    in_chunks(train, angle_chunks(start, teacher, torch.float64, place))
    return history.trained(like(start, history.stacked()))


class _Flow(Ensemble):
    """Units (R, H, D + 1), input weights and then readout, and where their flow goes."""

    PER_RUN = ("power",)
    MOVING = ("start", "units", "flow", "loss", "energy", "time", "step", "evaluations", "radius", "vector", "age")

    def __init__(
        self, runs: np.ndarray, start: Weights, teacher: Weights, anchors: np.ndarray, dtype: torch.dtype,
        place: torch.device, tolerance: float, max_time: float, accuracy: float, max_steps: int,
    ) -> None:  # fmt: skip
        self.runs, self.tolerance, self.max_time = np.asarray(runs), tolerance, max_time
        self.accuracy, self.max_steps = accuracy, max_steps
        self.exact, self.quick = (
            Group(runs, start, teacher, 1.0, anchors, kind, place) for kind in (torch.float64, dtype)
        )
        directions, readout = self.exact.teacher
        self.power = (readout[:, None] @ relu_kernel(directions, directions) @ readout[:, :, None])[:, 0, 0]
        first, second = self.exact.weights()
        self.units, self.flow, self.loss, self.energy = self._at(torch.cat([first, second.mT], 2))
        self.start, self.time = self.units, torch.zeros_like(self.loss)
        speed = _relative(self.flow, self.units.norm(dim=2))
        self.step = (FIRST / speed.clamp_min(_TINY)).clamp(max=max_time)
        self.evaluations = torch.ones_like(self.time, dtype=torch.int64)
        self.radius, self.vector = torch.zeros_like(self.time), self.flow
        self.age = torch.full_like(self.evaluations, -1)  # accepted steps since the radius was found; −1: never

    def ended(self) -> torch.Tensor:
        stalled = (self.time + self.step == self.time) | (self.time >= self.max_time)
        return (self.loss <= self.tolerance) | stalled | (self.evaluations + _ITERATIONS[0] + 2 > self.max_steps)

    def observed(self, which: torch.Tensor) -> dict[str, Values]:
        return {"time": self.time[which], "loss": self.loss[which], "risk": 2 * self.loss[which]}

    def outcome(self) -> dict[str, Values | int]:
        return {"evaluations": self.evaluations, "converged": self.loss <= self.tolerance}

    def weights(self) -> list[Values]:
        return [self.units[:, :, :-1], self.units[:, :, -1:].mT]

    def keep(self, which: torch.Tensor) -> None:
        super().keep(which)
        for group in (self.exact, self.quick):
            group.keep(which)

    def _at(self, units: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Units on their sphere, where the flow goes from there, the loss, and the loss with the anchor's penalty."""
        first, second, flow = self.exact.flow(units[:, :, :-1], units[:, :, -1:])
        directions, readout = self.exact.teacher
        shared = (second.mT @ relu_kernel(first, directions) @ readout[:, :, None])[:, 0, 0]
        loss = ((-(second * flow[:, :, -1:]).sum((1, 2)) - shared + self.power) / 2).clamp_min(0)
        return torch.cat([first, second], 2), flow, loss, loss + self.exact.penalty()

    def advance(self) -> torch.Tensor:
        """Try one step of every run; the mask of those whose step was accepted."""
        self._find_radius()
        step, stages = self._affordable()
        units, flow, loss, energy = self._at(
            RKC2.step(self._quick_flow, self.units, self.flow, step[:, None, None], stages)
        )
        error = 0.8 * (self.units - units) + 0.4 * step[:, None, None] * (self.flow + flow)
        scale = error_scale((units - self.start).norm(dim=2), self.units.norm(dim=2))
        size = _relative(error, scale) / self.accuracy
        # The flow never climbs. NaN fails every comparison, so a step that overflowed is rejected too.
        sound = energy <= self.energy * (1 + 1e-9) + self._rounding()
        accepted = sound & (size <= 1)
        block = accepted[:, None, None]
        self.units, self.flow = torch.where(block, units, self.units), torch.where(block, flow, self.flow)
        self.loss, self.energy = torch.where(accepted, loss, self.loss), torch.where(accepted, energy, self.energy)
        there = torch.where(step == self.max_time - self.time, self.max_time, self.time + step)
        self.time = torch.where(accepted, there, self.time)
        self.step = step * step_factor(size, sound, order=RKC2.ORDER)
        self.age = torch.where(accepted, self.age + 1, _LASTS)  # a rejected step may have been an unstable one
        self.evaluations += torch.as_tensor(stages, device=step.device)
        return accepted

    def _affordable(self) -> tuple[torch.Tensor, np.ndarray]:
        """The next step (R,), cut where stages, the budget or the time end, and its number of stages (R,)."""
        time, step, radius, evaluations = (
            values.cpu().numpy() for values in (self.time, self.step, self.radius, self.evaluations)
        )
        most = np.minimum(_STAGES, self.max_steps - evaluations)
        stable = RKC2.LIMIT * (most.astype(float) ** 2 - 1) / np.maximum(radius, _STILL)
        step = np.minimum(np.minimum(step, stable), self.max_time - time)
        return torch.as_tensor(step, device=self.time.device), np.minimum(RKC2.stages_for(step, radius), most)

    def _rounding(self) -> torch.Tensor:
        """How far off a loss may be, (R,)."""
        own = self.units[:, :, :-1].norm(dim=2) * self.units[:, :, -1].abs()
        return _ROUNDING * (own.sum(1) + self.exact.teacher[1].abs().sum(1)) ** 2

    def _quick_flow(self, units: torch.Tensor) -> torch.Tensor:
        """Where the flow goes from units, in the precision of steps."""
        return self.quick.flow(units[:, :, :-1], units[:, :, -1:])[2]

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
            change = (self._quick_flow(there) - self.flow) / nudge
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
