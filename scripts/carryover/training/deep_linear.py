"""Full gradient descent on deep linear networks, whole ensembles at once, in coordinates that leave out what is still.

The loss |Xβ − y|²/(2n) of β = W_1 … W_L moves W_1 along the row space of X alone. With the data `Factored` and
A = V W_1, k × d, what is trained is a = A W_2 … W_L: with g = ∂L/∂a = diag(s)(diag(s) a − t)/n each gradient is of
rank one, ∂L/∂A = g (W_2 … W_L)ᵀ, so that a step takes products of matrices with vectors only. It adds to a matrix W_l
columns of what lies left of it and rows of what lies right of it. So of a hidden layer nothing else is ever used than
what the rows of the matrix before it and the columns of the one after it span at the start: of two layers at most k + 1
dimensions, of pretrained networks of rank one a single one. These `reduced` coordinates leave the steps of gradient
descent what they are. The rest of W_1 stands still.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch

from carryover.networks.deep_linear import Weights
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Descent, History, Progress, Values, log_spaced, train
from carryover.training.linear_limits import Factored
from carryover.training.result import Divergence, Trained

# Of a group's matrices. Of a single matrix the library multiplies a column at the speed of the cache, of several it
# does not: only networks so small that calls are what costs are trained together on a CPU.
_BYTES = {"cpu": 2**18, "cuda": 2**31}


class _Group(Descent):
    """Deep linear networks in reduced coordinates, and their data."""

    PER_RUN = (*Descent.PER_RUN, "_networks", "_values", "_targets", "_samples", "matrices", "readout")

    def __init__(
        self, runs: np.ndarray, *, networks: Sequence[Network], matrices: Sequence[np.ndarray], readout: np.ndarray,
        targets: np.ndarray, risk: Callable[[np.ndarray, np.ndarray], np.ndarray], rate: float, tolerance: float,
        schedule: np.ndarray, dtype: torch.dtype, device: torch.device,
    ) -> None:  # fmt: skip
        own = [networks[run] for run in runs]
        self.runs, self.rate = np.asarray(runs), rate
        self._networks, self._risk = np.array(own, dtype=object), risk
        self.matrices = [tensor(layers[runs], device, dtype) for layers in matrices]
        self.readout = tensor(readout[runs], device, dtype)[:, :, None]
        self._values = tensor([network.data.values for network in own], device)[:, :, None]
        self._targets = tensor(targets[runs], device)[:, :, None]
        self._samples = tensor([network.data.samples for network in own], device)
        self.prepare()
        self.begin(schedule, tolerance)

    def prepare(self) -> None:
        """What a step needs of the data: its move of a is offset − slope · a."""
        dtype, factor = self.readout.dtype, self.rate / self._samples[:, None, None]
        self._slope = (factor * self._values**2).to(dtype)
        self._offset = (factor * self._values * self._targets).to(dtype)

    def _products(self) -> list[torch.Tensor]:
        """W_L, W_{L−1} W_L, …, the last of them a."""
        products = [self.readout]
        for matrix in reversed(self.matrices):
            products.append(torch.bmm(matrix, products[-1]))
        return products

    def epoch(self) -> None:
        *rights, a = self._products()
        left = torch.addcmul(self._offset, self._slope, a, value=-1).transpose(1, 2)  # −rate · gᵀ
        for matrix, right in zip(self.matrices, reversed(rights), strict=True):
            onward = torch.bmm(left, matrix)
            matrix.baddbmm_(left.transpose(1, 2), right.transpose(1, 2))
            left = onward
        self.readout.add_(left.transpose(1, 2))

    def coefficients(self) -> np.ndarray:
        """β (R, d), in float64."""
        products = self._products()
        inside, right = products[-1], products[-2 if self.matrices else -1]  # Vβ, and what the first matrix multiplies
        vectors = (values[:, :, 0].double().cpu().numpy() for values in (inside, right))
        return np.stack([network.coefficients(*row) for network, *row in zip(self._networks, *vectors, strict=True)])

    def observe(self, loss: torch.Tensor) -> dict[str, Values]:
        """The loss and the risk, (R,)."""
        return {"loss": loss, "risk": self._risk(self.runs, self.coefficients())}

    def weights(self) -> list[Values]:
        """β, the matrices and the readout, (R, …)."""
        return [self.coefficients(), *self.matrices, self.readout[:, :, 0]]

    def losses(self) -> torch.Tensor:
        """|Xβ − y|²/(2n) above its floor, (R,), in float64."""
        residual = self._values * self._products()[-1].double() - self._targets  # s b − t (R, k, 1)
        return residual.square().sum((1, 2)) / (2 * self._samples)


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
    precision: str = "float32",
    device: str = "auto",
    progress: Progress | None = None,
) -> Trained:
    """Train every run by gradient descent on |Xβ − y|²/(2n), until it is `tolerance` above its floor.

    Parameters
    ----------
    data, targets, sets
        `Factored` inputs of one rank k, t = Uᵀy (runs, k), and the data of each run (runs,).
    start : Weights
        The networks before the first step.
    risk : function of indices of runs (R,) and their coefficients β (R, d) -> (R,)

    Returns
    -------
    Trained
        With `Reduced` weights.

    Raises
    ------
    Divergence
        The loss of some runs is not finite or twice its start.
    """
    targets, place, dtype = np.asarray(targets, dtype=np.float64), torch_device(device), getattr(torch, precision)
    history, (networks, matrices, readout) = History(len(targets)), reduced(data, sets, start)
    size = sum(layer[0].size for layer in (*matrices, readout))
    group = partial(
        _Group, networks=networks, matrices=matrices, readout=readout, targets=targets, risk=risk, rate=learning_rate,
        tolerance=tolerance, schedule=log_spaced(max_steps), dtype=dtype, device=place,
    )  # fmt: skip
    if diverged := train(group, history, _BYTES[place.type] // (size * dtype.itemsize), progress):
        raise Divergence(diverged, f"gradient descent diverged with learning rate {learning_rate:g}")
    beta, *ends = history.stacked()
    return history.trained(Reduced(beta, networks, ends))


def reduced(
    data: Sequence[Factored], sets: np.ndarray, start: Weights
) -> tuple[list[Network], list[np.ndarray], np.ndarray]:
    """A `Network` for each run of `start`, and of all runs the matrices A, W_2, … and the readouts W_L at the start.

    Of one layer there is no matrix and the readout is Vβ.
    """
    turns, hidden = np.stack([one.directions for one in data])[sets], start.hidden
    layers = [*hidden.swapaxes(0, 1), start.readout[:, :, None]]
    layers[0] = turns @ layers[0]
    bases = [_used(*pair) for pair in pairwise(layers)]
    for place, basis in enumerate(bases):
        if basis is not None:
            layers[place] = layers[place] @ basis
            layers[place + 1] = basis.swapaxes(1, 2) @ layers[place + 1]
    networks = [
        Network(data[own], Weights(*weights), [None if basis is None else basis[run] for basis in bases])
        for run, (own, *weights) in enumerate(zip(sets, hidden, start.readout, strict=True))
    ]
    return networks, layers[:-1], layers[-1][:, :, 0]


def _used(before: np.ndarray, after: np.ndarray) -> np.ndarray | None:
    """Orthonormal columns (runs, d, r) that span the rows of `before` and the columns of `after`, (runs, d, ·); None
    where that takes all d dimensions."""
    both = np.concatenate([before.swapaxes(1, 2), after], 2).astype(np.float64)
    left, values, _ = np.linalg.svd(both, full_matrices=False)
    rank = int((values > max(both.shape[1:]) * np.finfo(float).eps * values[:, :1]).sum(1).max())
    return left[:, :, : max(rank, 1)] if rank < both.shape[1] else None


@dataclass(frozen=True)
class Network:
    """One network, rotated by the data from the left; `bases` (d, r) of its hidden layers, None where all is used."""

    data: Factored
    start: Weights
    bases: Sequence[np.ndarray | None]

    def coefficients(self, inside: np.ndarray, right: np.ndarray) -> np.ndarray:
        """β (d,), of Vβ = `inside` (k,) and the vector that the first matrix, if any, multiplies."""
        V, beta = self.data.directions, inside @ self.data.directions
        if len(V) == V.shape[1]:
            return beta
        if self.start.depth == 1:
            return beta + self._without(self.start.readout)
        return beta + self._without(self.start.hidden[0] @ _in(self.bases[0], right))

    def full(self, *end: np.ndarray) -> Weights:
        """The network of these reduced matrices and readout."""
        *matrices, readout = end
        V, hidden = self.data.directions, self.start.hidden.astype(np.float64)
        if self.start.depth == 1:
            return Weights(hidden, readout @ V + self._without(self.start.readout))
        readout = _in(self.bases[-1], readout).astype(np.float64)
        rows = [_in(basis, matrix.T).T for basis, matrix in zip(self.bases, matrices, strict=True)]
        others = [_in(basis, matrix) for basis, matrix in zip(self.bases, rows[1:], strict=False)]
        return Weights(np.stack([V.T @ rows[0] + self._without(hidden[0]), *others]), readout)

    def _without(self, values: np.ndarray) -> np.ndarray:
        """(I − VᵀV) values."""
        V = self.data.directions
        return values - V.T @ (V @ values)


def _in(basis: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    """A hidden layer's vectors (r, …) by its own units, (d, …)."""
    return values if basis is None else basis @ values


@dataclass(frozen=True)
class Reduced:
    """Networks after training: `coefficients` β (runs, d), float64, and what their matrices are made of."""

    coefficients: np.ndarray
    networks: Sequence[Network]
    ends: Sequence[np.ndarray]  # matrices and readouts (runs, …)

    def full(self) -> Weights:
        """All matrices of all networks, float64: d × d numbers for each layer of each run."""
        full = [network.full(*end) for network, *end in zip(self.networks, *self.ends, strict=True)]
        return Weights(np.stack([one.hidden for one in full]), np.stack([one.readout for one in full]))
