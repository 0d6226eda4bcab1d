"""Full gradient descent on deep linear networks, whole ensembles at once, in coordinates that leave out what is still.

The loss |Xβ − y|²/(2n) of β = W_1 … W_L moves W_1 along the row space of X alone. With the data `Factored` and
A = V W_1, k × d, what is trained is a = A W_2 … W_L: with g = ∂L/∂a = diag(s)(diag(s) a − t)/n each gradient is of
rank one, ∂L/∂A = g (W_2 … W_L)ᵀ, so that a step takes products of matrices with vectors only. Hidden layers moreover
are held by the part of them that is used, see `reduced`. Both rotations leave the steps of gradient descent what they
are. The rest of W_1 stands still, or shrinks by weight decay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import torch

from carryover.networks.deep_linear import Weights
from carryover.training.devices import chunks, in_chunks, torch_device
from carryover.training.history import History, Values, log_spaced
from carryover.training.integrate import Descent, Progress, integrate
from carryover.training.linear_limits import Factored
from carryover.training.reduced import Network, Reduced, reduced
from carryover.training.result import Divergence, Trained

# Of a group's matrices. Of a single matrix the library multiplies a column at the speed of the cache, of several it
# does not: only networks so small that calls are what costs are trained together on a CPU.
_BYTES = {"cpu": 2**18, "cuda": 2**31}


class _Group(Descent):
    """Deep linear networks in reduced coordinates, and their data."""

    PER_RUN = (*Descent.PER_RUN, "_networks", "_values", "_targets", "_samples", "_decay", "_outside")
    MOVING = (*Descent.MOVING, "matrices", "readout")

    def __init__(
        self, runs: np.ndarray, networks: Sequence[Network], matrices: Sequence[np.ndarray], readout: np.ndarray,
        targets: np.ndarray, risk: Callable[[np.ndarray, np.ndarray], np.ndarray], rate: float, decay: np.ndarray,
        tolerance: float, dtype: torch.dtype, device: torch.device,
    ) -> None:  # fmt: skip
        def tensor(values: Sequence[Any], dtype: torch.dtype = dtype) -> torch.Tensor:
            return torch.as_tensor(np.stack(values), dtype=dtype, device=device)

        mine = [networks[run] for run in runs]
        self.runs, self.rates, self.rate = np.asarray(runs), np.full(len(runs), rate), rate
        self._networks, self._risk = np.array(mine, dtype=object), risk
        self.matrices, self.readout = [tensor(layers[runs]) for layers in matrices], tensor(readout[runs])[:, :, None]
        self._values = tensor([network.data.values for network in mine], torch.float64)[:, :, None]
        self._targets = tensor(targets[runs], torch.float64)[:, :, None]
        self._samples = tensor([network.data.samples for network in mine], torch.float64)
        self._decay, self._tolerance = tensor(decay[runs], torch.float64), tolerance
        decays = decay[runs].any()
        outside = [network.outside() if decays else 0.0 for network in mine]
        self._outside = tensor(outside, torch.float64)
        self.prepare()

    def prepare(self) -> None:
        """What a step needs of the data: its move of a is offset − slope · a."""
        dtype, factor = self.readout.dtype, self.rate / self._samples[:, None, None]
        self._slope = (factor * self._values**2).to(dtype)
        self._offset = (factor * self._values * self._targets).to(dtype)
        self._kept = (1 - self.rate * self._decay).to(dtype)[:, None, None] if self._decay.any() else None

    def _rights(self) -> list[torch.Tensor]:
        """W_L, W_{L−1} W_L, …, the last of them a."""
        rights = [self.readout]
        for matrix in reversed(self.matrices):
            rights.append(torch.bmm(matrix, rights[-1]))
        return rights

    def step(self, _batch: None = None) -> None:
        """One step of gradient descent on the loss and the weight decay."""
        *rights, a = self._rights()
        left = torch.addcmul(self._offset, self._slope, a, value=-1).transpose(1, 2)  # −rate · gᵀ
        for matrix, right in zip(self.matrices, reversed(rights), strict=True):
            onward = torch.bmm(left, matrix)
            if self._kept is not None:
                matrix.mul_(self._kept)
            matrix.baddbmm_(left.transpose(1, 2), right.transpose(1, 2))
            left = onward
        if self._kept is not None:
            self.readout.mul_(self._kept)
        self.readout.add_(left.transpose(1, 2))

    def left_outside(self) -> torch.Tensor:
        """(R,) the share that weight decay has left of W_1 outside the row space."""
        return (1 - self.rate * self._decay) ** self.steps

    def coefficients(self) -> np.ndarray:
        """β (R, d), in float64."""
        rights = self._rights()
        inside, right = rights[-1], rights[-2 if self.matrices else -1]  # Vβ, and what the first matrix multiplies
        vectors = (values[:, :, 0].double().cpu().numpy() for values in (inside, right))
        rows = zip(self._networks, *vectors, self.left_outside().cpu().numpy(), strict=True)
        return np.stack([network.coefficients(*row) for network, *row in rows])

    def observe(self, _loss: torch.Tensor) -> dict[str, Values]:
        """The loss of the data and the risk, (R,)."""
        return {"loss": self.data_losses(), "risk": self._risk(self.runs, self.coefficients())}

    def weights(self) -> list[Values]:
        """β, the matrices, the readout, and the share left of W_1 outside the row space, (R, …)."""
        return [self.coefficients(), *self.matrices, self.readout[:, :, 0], self.left_outside()]

    def _residual(self) -> torch.Tensor:
        """s b − t (R, k, 1), in float64."""
        return self._values * self._rights()[-1].double() - self._targets

    def data_losses(self) -> torch.Tensor:
        """|Xβ − y|²/(2n) above its floor, (R,), in float64."""
        return self._residual().square().sum((1, 2)) / (2 * self._samples)

    def losses(self) -> torch.Tensor:
        """What training is to bring below the tolerance, (R,), in float64; see `gradient_descent`."""
        loss = self.data_losses()
        if self._kept is None:
            return loss
        outside, layers = self._outside * self.left_outside() ** 2, [*self.matrices, self.readout]
        power = sum(torch.linalg.vector_norm(layer, dim=(1, 2), dtype=torch.float64) ** 2 for layer in layers) + outside
        objective = loss + self._decay / 2 * power
        if len(layers) == 2:
            return objective - self._dual()
        bound = self._squared_gradient(outside) / (2 * self._decay)
        at_rest = (self._decay > 0) & (bound <= self._tolerance)
        return torch.where(at_rest, bound, objective)

    def _dual(self) -> torch.Tensor:
        """The best lower bound along the residual z on the least of |z|²/(2n) + decay |b|, z = s b − t."""
        z, n = self._residual(), self._samples
        force = (self._values * z).square().sum((1, 2)).sqrt() / n
        along, square = (z * self._targets).sum((1, 2)), z.square().sum((1, 2)).clamp(min=torch.finfo(z.dtype).tiny)
        share = (-along / square).clamp(min=0).minimum(self._decay / force.clamp(min=torch.finfo(z.dtype).tiny))
        return (-share * along - share**2 * square / 2) / n

    def _squared_gradient(self, outside: torch.Tensor) -> torch.Tensor:
        """|∇(loss + decay/2 Σ|W_l|²)|² over all layers, (R,), in float64."""
        *rights, a = (right.double() for right in self._rights())
        left = self._values * self._residual() / self._samples[:, None, None]
        inner, total = (left * a).sum((1, 2)), self._decay**2 * outside  # every layer's ⟨W_l, ∂L/∂W_l⟩ is g · a

        def squared(power: torch.Tensor, layer: torch.Tensor) -> torch.Tensor:
            weights = torch.linalg.vector_norm(layer, dim=(1, 2), dtype=torch.float64) ** 2
            return power + 2 * self._decay * inner + self._decay**2 * weights

        for matrix, right in zip(self.matrices, reversed(rights), strict=True):
            total = total + squared(left.square().sum((1, 2)) * right.square().sum((1, 2)), matrix)
            left = torch.bmm(matrix.double().transpose(1, 2), left)
        return total + squared(left.square().sum((1, 2)), self.readout)


def gradient_descent(
    data: Sequence[Factored],
    targets: np.ndarray,
    sets: np.ndarray,
    start: Weights,
    *,
    risk: Callable[[np.ndarray, np.ndarray], np.ndarray],
    learning_rate: float,
    tolerance: float,
    max_steps: int,
    weight_decay: float | np.ndarray = 0.0,
    precision: str = "float32",
    device: str = "auto",
    checkpoints: int = 64,
    progress: Progress | None = None,
) -> Trained:
    """Train every run by gradient descent on L = |Xβ − y|²/(2n) + weight_decay/2 Σ_l |W_l|².

    A run ends once the loss is `tolerance` or less. With weight decay the tolerance bounds how far L is above its least
    value: for two layers by the duality gap of |Xβ − y|²/(2n) + weight_decay |β|, whose least value is the same;
    otherwise by |∇L|²/(2 weight_decay), a bound where L is convex (one layer) and an estimate near a minimum of three
    layers and more, one of which is at β = 0.

    Parameters
    ----------
    data, targets, sets
        `Factored` inputs of one rank k, t = Uᵀy (runs, k), and the data of each run (runs,).
    start : Weights
        The networks before the first step.
    risk : function of indices of runs (R,) and their coefficients β (R, d) -> (R,)
    weight_decay : float or (runs,)
    precision : str
        Runs with weight decay are trained in "float64" in any case: "float32" steps of
        learning_rate · weight_decay · W would be lost to rounding.
    checkpoints : int
        The most log-spaced steps after which risk and loss, without weight decay and above the floor that no β gets
        below, are recorded, and runs end.

    Returns
    -------
    Trained
        With `Reduced` weights.

    Raises
    ------
    Divergence
        The loss of some runs is not finite or twice its start.
    """
    targets, decay = np.asarray(targets, dtype=np.float64), np.broadcast_to(weight_decay, len(targets))
    place, schedule = torch_device(device), log_spaced(max_steps, checkpoints)
    history = History(len(targets), checkpoints)
    networks, matrices, readout = reduced(data, sets, start)
    size = sum(layer[0].size for layer in (*matrices, readout))

    def train(runs: np.ndarray, dtype: torch.dtype) -> list[int]:
        group = _Group(runs, networks, matrices, readout, targets, risk, learning_rate, decay, tolerance, dtype, place)
        group.begin(schedule, tolerance)
        integrate(group, history, progress)
        return group.diverged

    diverged: list[int] = []
    for decays, dtype in ((decay == 0, getattr(torch, precision)), (decay > 0, torch.float64)):
        together = chunks(np.flatnonzero(decays), _BYTES[place.type] // (size * dtype.itemsize))
        diverged += chain(*in_chunks(partial(train, dtype=dtype), together))
    if diverged:
        raise Divergence(sorted(diverged), f"gradient descent diverged with learning rate {learning_rate:g}")
    beta, ends = zip(*((beta, end) for beta, *end in history.weights()), strict=True)
    return history.trained(Reduced(np.stack(beta), networks, ends))
