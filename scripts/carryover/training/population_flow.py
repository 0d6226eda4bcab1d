"""Gradient flow of shallow ReLU networks on the exact population loss of a ReLU teacher, in tens of steps.

Inputs are x ~ N(0, I_D), the loss is L = ½ E(f(x) − f*(x))², f(x) = Σ_h a_h relu(v_h · x). Let u_j be the units of both
student and teacher, and s_j = a_h or −a*_k, so that f − f* = Σ_j s_j relu(u_j · x). Then each student unit has

    G_h = E[(f − f*) 1[v_h · x > 0] x] = 1/(2π) Σ_j s_j (|u_j| sin θ_hj v̂_h + (π − θ_hj) u_j),
    ∂L/∂v_h = a_h G_h,  ∂L/∂a_h = v_h · G_h,

θ the angle between units: the gradient of the arc-cosine kernel, equation 150 of "Features are fate". Its section 4
keeps input weights on the sphere, on which the flow with an anchor is

    dv_h/dt = −(I − v̂_h v̂_hᵀ) (∂L/∂v_h + anchor (v_h − v_h(0))),  da_h/dt = −∂L/∂a_h.

The flow is smooth, for there are no samples whose side a unit could change, and stability limits an explicit step long
before accuracy does: so steps are those of `steppers.RKC2`, and every run has its own. Points are brought back to the
sphere before their gradient is taken. Gradients within a step may be in single precision. Those at its ends are in
double precision, and give the loss at hardly any further cost: as v_h · G_h = E[(f − f*) relu(v_h · x)],
Σ_h a_h v_h · G_h = E[(f − f*) f] and L = ½ (E[(f − f*) f] − E[f f*] + E[f*²]).
"""

from __future__ import annotations

import math
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_kernel
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import History, Values, train
from carryover.training.relu import BYTES
from carryover.training.result import Trained
from carryover.training.steppers import RKC2, TINY, Flow, error_scale, first_runs

_STAGES = 100  # at most: beyond, single precision would show
_RADIUS = 1.2  # times the spectral radius, which power iteration approaches from below
_ITERATIONS = (5, 1)  # of the power method at the start, and later, from the last vector on
_LASTS = 5  # accepted steps, for which a spectral radius is used
_ROUNDING = 4 * torch.finfo(torch.float64).eps  # of a loss, relative to the squared sum of all coefficients
_STILL = 1e-100  # a smaller spectral radius limits no step


def population_flow(teacher: Weights, start: Weights, *, device: str = "auto", **settings: Any) -> Trained:
    """Train every run by gradient flow on L + ½ anchor Σ_h |v_h − v_h(0)|², until L ≤ `tolerance` or `max_time`.

    A mean-field network f = 1/m Σ_i c_i relu(w_i · x), |w_i| = 1, trained with the learning rate η m is this one with
    v = w/√m, a = c/√m and the learning rate η; each of its units feels the force −anchor · (w_i − w_i(0)) at that rate.

    Parameters
    ----------
    teacher : Weights
        first (runs, K, D), unit vectors; second (runs, 1, K). Units with readout 0 are padding.
    start : Weights
        first (runs, H, D), second (runs, 1, H).
    max_time : float or (runs,)
        Time is the sum of learning rates.
    longer : (runs,) of int, optional
        For each run the index of the run that continues from its end to a later `max_time`, −1 for none. Both must
        agree in everything else.
    anchor : float or (runs,)
    accuracy : float
        Bound of the error that one step makes in the weights of any unit, relative to its displacement since the
        start, or to a tenth of its size where that is larger.
    max_steps : int
        Budget of gradient evaluations; a run over it ends with `converged` false, as does one at `max_time`.
    precision : str
        Of the gradients within a step.

    Returns
    -------
    Trained
        Its loss is L, its risk 2L.

    Raises
    ------
    Divergence
        The loss at the start is not finite.
    """
    place, history, H = torch_device(device), History(len(start.first)), start.first.shape[1]
    flow = partial(_Flow, start=start, teacher=teacher, place=place, **settings)
    angles = 2 * torch.float64.itemsize * H * (H + teacher.first.shape[1])  # in bytes
    train(flow, history, BYTES[place.type] // angles, first_runs(settings.get("longer"), len(history)))
    return history.result(start.like)


class PopulationGradient:
    """G and the velocity of networks in one precision, for start weights, anchor and teacher of each run."""

    def __init__(
        self, runs: np.ndarray, start: Weights, teacher: Weights, anchor: np.ndarray, dtype: torch.dtype,
        device: torch.device,
    ) -> None:  # fmt: skip
        first = tensor(start.first[runs], device, dtype)
        self.lengths = first.norm(dim=2, keepdim=True)  # (R, H, 1)
        self.start = first / self.lengths  # unit vectors (R, H, D)
        self.directions = tensor(teacher.first[runs], device, dtype)
        self.readout = tensor(teacher.second[runs, 0], device, dtype)
        self.anchor = tensor(anchor[runs], device, dtype)[:, None, None]
        self._allocate()

    def _allocate(self) -> None:
        R, H, _ = self.start.shape
        self._units = torch.cat([self.start, self.directions], 1)
        self._coefficients = torch.cat([self.lengths, -self.readout[:, :, None]], 1)
        self._angles, self._sines = (self.start.new_empty(R, H, self._units.shape[1]) for _ in range(2))

    def __getitem__(self, which: torch.Tensor) -> PopulationGradient:
        """The same gradient for the networks in the boolean mask (R,) only, with work arrays of their number."""
        some = copy(self)
        for name in ("lengths", "start", "directions", "readout", "anchor"):
            setattr(some, name, getattr(self, name)[which])
        some._allocate()
        return some

    def gradient(self, unit: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        """G_h = E[(f − f*) 1[v_h · x > 0] x] (R, H, D) by the formula of this module, at student networks with readouts
        `second` (R, H, 1) and input weights along the unit vectors `unit` (R, H, D), of the fixed `lengths`.

        An error ε of a cosine changes G by no more than ε, although arccos is ill-conditioned near ±1: errors cancel.
        """
        # `minus` is −cos θ_hj, so its arccos is π − θ_hj. Students and teacher are both units of length 1 here, and
        # `_coefficients` are s_j |u_j|. The operations reuse the work arrays.
        H = unit.shape[1]
        self._units[:, :H] = unit
        torch.mul(second, self.lengths, out=self._coefficients[:, :H])
        minus = torch.bmm(unit, self._units.transpose(1, 2), out=self._angles).neg_().clamp_(-1, 1)
        sines = torch.mul(minus, minus, out=self._sines).neg_().add_(1).sqrt_()
        total = torch.bmm(minus.acos_(), self._units * self._coefficients)
        return total.addcmul_(torch.bmm(sines, self._coefficients), unit).div_(2 * math.pi)

    def flow(self, units: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Unit vectors (R, H, D) along the input weights of units (R, H, D + 1), and the velocity there, in float64."""
        dtype, first, second = self.lengths.dtype, units[:, :, :-1], units[:, :, -1:]
        unit = first / first.norm(dim=2, keepdim=True)
        G, first = self.gradient(unit.to(dtype), second.to(dtype)).to(unit.dtype), unit * self.lengths
        force = torch.mul(second, G).addcmul_(self.anchor.to(unit.dtype), first - self.start * self.lengths)
        force -= unit * (unit * force).sum(2, keepdim=True)
        return unit, torch.cat([force, (first * G).sum(2, keepdim=True)], 2).neg_()


class _Flow(Flow):
    """Units (R, H, D + 1), input weights and then readout, and where their flow goes."""

    PER_RUN = ("exact", "quick", "power", "start", "units", "flow", "loss", "energy", "time", "step", "evaluations",
               "radius", "vector", "age", "max_time")  # fmt: skip
    EVALUATIONS, ORDER = _ITERATIONS[0] + 2, RKC2.ORDER

    def __init__(
        self, runs: np.ndarray, *, start: Weights, teacher: Weights, place: torch.device, tolerance: float,
        max_time: float | np.ndarray, longer: np.ndarray | None = None, accuracy: float = 0.03,
        max_steps: int = 100_000, anchor: float | np.ndarray = 0.0, precision: str = "float32",
    ) -> None:  # fmt: skip
        self.runs, self.tolerance = np.asarray(runs), tolerance
        self.set_times(max_time, longer, len(start.first), place)
        self.accuracy, self.max_steps = accuracy, max_steps
        # `exact` is for the ends of steps; `quick`, in the given precision, for the gradients within them.
        self.exact, self.quick = (
            PopulationGradient(runs, start, teacher, np.broadcast_to(anchor, len(start.first)), dtype, place)
            for dtype in (torch.float64, getattr(torch, precision))
        )
        directions, readout = self.exact.directions, self.exact.readout
        self.power = (readout[:, None] @ relu_kernel(directions, directions) @ readout[:, :, None])[:, 0, 0]  # E f*²
        readouts = tensor(start.second[runs], place).mT
        units = torch.cat([self.exact.start * self.exact.lengths, readouts], 2)
        # Units (R, H, D + 1), their velocity, the loss (R,), and the loss plus the anchor's penalty, which falls.
        self.units, self.flow, self.loss, self.energy = self._at(units)
        self.start = self.units
        self.begin(_relative(self.flow, self.units.norm(dim=2)))
        self.evaluations = torch.ones_like(self.time, dtype=torch.int64)
        # The Jacobian's spectral radius (R,), and the vector (R, H, D + 1) of its power iteration: see `_find_radius`.
        self.radius, self.vector = torch.zeros_like(self.time), self.flow
        self.age = torch.full_like(self.evaluations, -1)  # accepted steps since the radius was found; −1: never

    def observe_runs(self, which: torch.Tensor) -> dict[str, Values]:
        return {"time": self.time[which], "loss": self.loss[which], "risk": 2 * self.loss[which]}

    def weights(self) -> list[Values]:
        return [self.units[:, :, :-1], self.units[:, :, -1:].mT]

    def _at(self, units: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Units on their sphere, where the flow goes from there, the loss, and the loss with the anchor's penalty."""
        exact, second = self.exact, units[:, :, -1:]
        unit, flow = exact.flow(units)
        first = unit * exact.lengths
        shared = (second.mT @ relu_kernel(first, exact.directions) @ exact.readout[:, :, None])[:, 0, 0]
        loss = ((-(second * flow[:, :, -1:]).sum((1, 2)) - shared + self.power) / 2).clamp_min(0)
        penalty = (exact.anchor * ((unit - exact.start) * exact.lengths).square()).sum((1, 2)) / 2
        return torch.cat([first, second], 2), flow, loss, loss + penalty

    def advance(self) -> torch.Tensor:
        """Try one step of `steppers.RKC2` for every network; the mask (R,) of steps that were accepted."""
        self._find_radius()
        # A step has at most `most` stages: `_STAGES`, or what remains of the budget of evaluations. It is no longer
        # than is stable with these, and takes the fewest stages with which its length is stable.
        asked = self.length(), self.radius, self.evaluations
        length, radius, evaluations = (values.cpu().numpy() for values in asked)
        most = np.minimum(_STAGES, self.max_steps - evaluations)
        length = np.minimum(length, RKC2.LIMIT * (most.astype(float) ** 2 - 1) / np.maximum(radius, _STILL))
        stages = np.minimum(RKC2.stages_for(length, radius), most)
        step = torch.as_tensor(length, device=self.time.device)
        h = step[:, None, None]
        units, flow, loss, energy = self._at(RKC2.step(self._velocity, self.units, self.flow, h, stages))
        error = 0.8 * (self.units - units) + 0.4 * h * (self.flow + flow)  # see `RKC2`
        scale = error_scale((units - self.start).norm(dim=2), self.units.norm(dim=2))
        size = _relative(error, scale) / self.accuracy
        # Along the flow the energy never rises but by rounding, which is relative to the squared sum of the
        # coefficients |v_h| |a_h| and |a*_k|. NaN fails every comparison, so a step that overflowed is rejected too.
        own = self.units[:, :, :-1].norm(dim=2) * self.units[:, :, -1].abs()
        rounding = _ROUNDING * (own.sum(1) + self.exact.readout.abs().sum(1)) ** 2
        sound = energy <= self.energy * (1 + 1e-9) + rounding
        accepted = self.finish(step, size, sound, units=units, flow=flow, loss=loss, energy=energy)
        self.age = torch.where(accepted, self.age + 1, _LASTS)  # a rejected step may have been an unstable one
        self.evaluations += torch.as_tensor(stages, device=step.device)
        return accepted

    def _velocity(self, units: torch.Tensor) -> torch.Tensor:
        """In the precision of steps, (R, H, D + 1)."""
        return self.quick.flow(units)[1]

    def _find_radius(self) -> None:
        """Set the spectral radius of the flow's Jacobian, by the power method, for runs whose value is unknown (age −1)
        or was used for `_LASTS` accepted steps. It comes from below, so it is enlarged by the factor `_RADIUS`."""
        stale = (self.age < 0) | (self.age >= _LASTS)
        if not stale.any():
            return
        iterations = torch.where(self.age < 0, _ITERATIONS[0], _ITERATIONS[1]) * stale
        # Each iteration multiplies `vector` by the Jacobian, as a difference quotient over √eps of the weights' length.
        nudge = _length(self.units) * torch.finfo(self.quick.start.dtype).eps ** 0.5
        for done in range(int(iterations.max())):
            unit = self.vector / _length(self.vector).clamp_min(TINY)
            there = self.units + nudge * unit
            change = (self._velocity(there) - self.flow) / nudge
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
    return (change.norm(dim=2) / sizes.clamp_min(TINY)).amax(1)
