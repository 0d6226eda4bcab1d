"""Gradient descent of shallow ReLU networks on the exact population loss of a ReLU teacher, whole ensembles at once.

Inputs are x ~ N(0, I_D), the loss is L = ½ E(f(x) − f*(x))², f(x) = Σ_h a_h relu(v_h · x). Let u_j be the units of both
student and teacher, and s_j = a_h or −a*_k, so that f − f* = Σ_j s_j relu(u_j · x). Then each student unit has

    G_h = E[(f − f*) 1[v_h · x > 0] x] = 1/(2π) Σ_j s_j (|u_j| sin θ_hj v̂_h + (π − θ_hj) u_j),
    ∂L/∂v_h = a_h G_h,  ∂L/∂a_h = v_h · G_h,

θ the angle between units: the gradient of the arc-cosine kernel, equation 150 of "Features are fate". After every
step input weights go back to the lengths they started with (its section 4 keeps them on the sphere).
"""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk
from carryover.training.devices import chunks, in_chunks, torch_device
from carryover.training.history import History, log_spaced
from carryover.training.integrate import Descent, Progress, integrate
from carryover.training.relu import BYTES, like
from carryover.training.result import Divergence, Trained


class Group(Descent):
    """ReLU networks and their teachers."""

    PER_RUN = (*Descent.PER_RUN, "_start", "_lengths", "_anchor", "teacher")
    MOVING = (*Descent.MOVING, "first", "second")

    def __init__(
        self, runs: np.ndarray, start: Weights, teacher: Weights, rate: float, anchor: np.ndarray, dtype: torch.dtype,
        device: torch.device,
    ) -> None:  # fmt: skip
        def tensor(values: np.ndarray) -> torch.Tensor:
            return torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=device)

        self.runs, self.rates = np.asarray(runs), np.full(len(runs), float(rate))
        first, self.teacher = tensor(start.first[runs]), [tensor(values[runs]) for values in _layers(teacher)]
        self._lengths = first.norm(dim=2, keepdim=True)  # (R, H, 1)
        self._start, self.first = first / self._lengths, first / self._lengths  # unit vectors (R, H, D)
        self.second = tensor(start.second[runs]).transpose(1, 2).contiguous()  # (R, H, 1)
        self._anchor = tensor(anchor[runs])[:, None, None]
        self.prepare()

    def prepare(self) -> None:
        R, H, _ = self.first.shape
        directions, readout = self.teacher
        self._units = torch.cat([self.first, directions], 1)
        self._coefficients = torch.cat([self.second, -readout[:, :, None]], 1)
        self._angles, self._sines = (self.first.new_empty(R, H, self._units.shape[1]) for _ in range(2))

    def gradient(self) -> torch.Tensor:
        """G (R, H, D). A cosine off by ε moves it by no more than ε: where angles are ill-conditioned, it cancels."""
        H = self.first.shape[1]
        self._units[:, :H] = self.first
        torch.mul(self.second, self._lengths, out=self._coefficients[:, :H])
        minus = torch.bmm(self.first, self._units.transpose(1, 2), out=self._angles).neg_().clamp_(-1, 1)
        sines = torch.mul(minus, minus, out=self._sines).neg_().add_(1).sqrt_()
        total = torch.bmm(minus.acos_(), self._units * self._coefficients)
        return total.addcmul_(torch.bmm(sines, self._coefficients), self.first).div_(2 * math.pi)

    def step(self, _batch: None = None) -> None:
        """One step along the negative gradient of L and the anchor's penalty; then back to the sphere."""
        rate, G = self.rates[0], self.gradient()
        move = (self.first * G).sum(2, keepdim=True).mul_(self._lengths)
        gradient = torch.mul(self.second, G).addcmul_(self._anchor, (self.first - self._start) * self._lengths)
        moved = torch.mul(self.first, self._lengths).sub_(gradient, alpha=rate)
        torch.div(moved, moved.norm(dim=2, keepdim=True), out=self.first)
        self.second.sub_(move, alpha=rate)

    def flow(self, first: torch.Tensor, second: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Where gradient flow goes from input weights (R, H, D) and readouts (R, H, 1), both in float64.

        Returns the input weights on their sphere, the readouts, and the velocity (R, H, D + 1) of both along it.
        """
        unit = first / first.norm(dim=2, keepdim=True)
        self.first, self.second = unit.to(self._lengths.dtype), second.to(self._lengths.dtype)
        G, first = self.gradient().to(unit.dtype), unit * self._lengths
        force = torch.mul(second, G).addcmul_(self._anchor.to(unit.dtype), first - self._start * self._lengths)
        force -= unit * (unit * force).sum(2, keepdim=True)
        return first, second, torch.cat([force, (first * G).sum(2, keepdim=True)], 2).neg_()

    def penalty(self) -> torch.Tensor:
        """The anchor's, ½ anchor Σ_h |v_h − v_h(0)|², (R,)."""
        return (self._anchor * ((self.first - self._start) * self._lengths).square()).sum((1, 2)) / 2

    def losses(self) -> torch.Tensor:
        """L, (R,), in float64."""
        first, second = self.weights()
        return relu_risk(first, second[:, 0], *self.teacher) / 2

    def observe(self, loss: torch.Tensor) -> dict[str, torch.Tensor]:
        """Loss and risk, (R,)."""
        return {"loss": loss, "risk": 2 * loss}

    def weights(self) -> list[torch.Tensor]:
        """Input weights (R, H, D) and readouts (R, 1, H) as they are now."""
        return [self.first * self._lengths, self.second.transpose(1, 2)]


def population_descent(
    teacher: Weights,
    start: Weights,
    *,
    learning_rate: float,
    tolerance: float,
    max_steps: int,
    anchor: float | np.ndarray = 0.0,
    precision: str = "float32",
    device: str = "auto",
    checkpoints: int = 64,
    progress: Progress | None = None,
) -> Trained:
    """Train every run by gradient descent on L + ½ anchor Σ_h |v_h − v_h(0)|², until L ≤ `tolerance` or `max_steps`.

    A mean-field network f = 1/m Σ_i c_i relu(w_i · x), |w_i| = 1, trained with the learning rate η m is this one with
    v = w/√m, a = c/√m and the learning rate η; each of its units feels the force −anchor · (w_i − w_i(0)) at that rate.

    Parameters
    ----------
    teacher : Weights
        first (runs, K, D), unit vectors; second (runs, 1, K). Units with readout 0 are padding.
    start : Weights
        first (runs, H, D), second (runs, 1, H).
    anchor : float or (runs,)
    precision : str
        "float32" is as good as "float64" but for the loss: its gradient is off by rounding alone, some 1e-7 Σ_j |s_j|.
    checkpoints : int
        The most log-spaced steps after which loss and risk are recorded, and runs end.

    Returns
    -------
    Trained
        Its loss is L, its risk 2L.

    Raises
    ------
    Divergence
        The loss of some runs is not finite or twice its start.
    """
    anchors = np.broadcast_to(anchor, len(start.first))
    place, dtype = torch_device(device), getattr(torch, precision)
    schedule, history = log_spaced(max_steps, checkpoints), History(len(start.first), checkpoints)

    def train(runs: np.ndarray) -> list[int]:
        group = Group(runs, start, teacher, learning_rate, anchors, dtype, place)
        group.begin(schedule, tolerance)
        integrate(group, history, progress)
        return group.diverged

    diverged = list(chain(*in_chunks(train, angle_chunks(start, teacher, dtype, place))))
    if diverged:
        raise Divergence(sorted(diverged), f"gradient descent diverged with learning rate {learning_rate:g}")
    return history.trained(like(start, history.stacked()))


def _layers(network: Weights) -> tuple[np.ndarray, np.ndarray]:
    """Directions (runs, K, D) and coefficients (runs, K) of a network of one output."""
    return network.first, network.second[:, 0]


def angle_chunks(start: Weights, teacher: Weights, dtype: torch.dtype, place: torch.device) -> list[np.ndarray]:
    """Runs in groups whose angles fill the cache or the device."""
    runs, H, _ = start.first.shape
    return chunks(np.arange(runs), BYTES[place.type] // (2 * dtype.itemsize * H * (H + teacher.first.shape[1])))
