"""A deep linear network in the coordinates in which it is trained, and the way back to its matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from carryover.networks.deep_linear import Weights
from carryover.training.factored import Factored


def reduced(data: Factored, start: Weights, trainable: tuple[str, ...]) -> tuple[Network, list[np.ndarray], np.ndarray]:
    """A `Network` with its matrices A, W_2, … and its readout W_L at the start.

    Of one layer there is no matrix and the readout is Vβ. Of a readout that moves alone the one matrix is A W_2 … .
    """
    matrices, readout, basis = [], start.readout, None
    k, d = data.directions.shape
    if start.depth == 1:
        readout = data.directions @ readout
    else:
        matrices = [data.directions @ start.hidden[0], *start.hidden[1:]]
        if "hidden" not in trainable and start.depth > 2:
            matrices = [np.linalg.multi_dot(matrices)]
        if len(matrices) == 1 and k + 1 < d:
            basis = np.linalg.qr(np.vstack([matrices[0], readout]).T)[0]  # (d, k + 1)
            matrices, readout = [matrices[0] @ basis], readout @ basis
    return Network(data, start, trainable, basis), matrices, readout


@dataclass(frozen=True)
class Network:
    """One network, rotated by the data from the left and by a `basis` (d, k + 1), or none, from the right."""

    data: Factored
    start: Weights
    trainable: tuple[str, ...]
    basis: np.ndarray | None

    def outside(self) -> float:
        """|W_1|² of what lies outside the row space of X, at the start."""
        first = self.start.hidden[0] if self.start.depth > 1 else self.start.readout
        return float((self._without(first) ** 2).sum())

    def coefficients(self, inside: np.ndarray, right: np.ndarray, shrunk: float) -> np.ndarray:
        """β (d,), of Vβ = `inside` (k,) and the vector that the first matrix multiplies (of one layer it is ignored).

        `shrunk` is the share that weight decay has left of W_1 outside the row space.
        """
        V, hidden = self.data.directions, self.start.hidden
        beta = inside @ V
        if len(V) == V.shape[1]:
            return beta
        if self.start.depth == 1:
            return beta + shrunk * self._without(self.start.readout)
        right = right if self.basis is None else self.basis @ right
        for matrix in reversed(hidden[:1] if "hidden" in self.trainable else hidden):
            right = matrix @ right
        return beta + shrunk * self._without(right)

    def full(self, *end: np.ndarray) -> Weights:
        """The network of these reduced matrices and readout, and the share left of W_1 outside the row space."""
        *matrices, readout, shrunk = end
        V, hidden = self.data.directions, self.start.hidden.astype(np.float64)
        if self.start.depth == 1:
            return Weights(hidden, readout @ V + shrunk * self._without(self.start.readout))
        if self.basis is not None:
            matrices, readout = [matrices[0] @ self.basis.T], self.basis @ readout
        if "hidden" not in self.trainable:
            return Weights(hidden, readout.astype(np.float64))
        first = V.T @ matrices[0] + shrunk * self._without(hidden[0])
        return Weights(np.stack([first, *matrices[1:]]), readout.astype(np.float64))

    def _without(self, values: np.ndarray) -> np.ndarray:
        """(I − VᵀV) values."""
        V = self.data.directions
        return values - V.T @ (V @ values)


@dataclass(frozen=True)
class Reduced:
    """Networks after training: `coefficients` β (runs, d), float64, and what their matrices are made of."""

    coefficients: np.ndarray
    networks: Sequence[Network]
    ends: Sequence[Sequence[np.ndarray]]  # matrices, readout, share left of W_1 outside the row space

    def full(self) -> Weights:
        """All matrices of all networks, float64: d × d numbers for each layer of each run."""
        full = [network.full(*end) for network, end in zip(self.networks, self.ends, strict=True)]
        return Weights(np.stack([one.hidden for one in full]), np.stack([one.readout for one in full]))
