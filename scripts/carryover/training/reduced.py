"""Deep linear networks in the coordinates in which they are trained, and the way back to their matrices.

A step of gradient descent adds to a matrix W_l columns of what lies left of it and rows of what lies right of it. So of
a hidden layer nothing else is ever used than what the rows of the matrix before it and the columns of the one after it
span at the start. Of two layers that is at most k + 1 dimensions, of pretrained networks of rank one a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from carryover.networks.deep_linear import Weights
from carryover.training.linear_limits import Factored


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
    ends: Sequence[Sequence[np.ndarray]]  # matrices, readout

    def full(self) -> Weights:
        """All matrices of all networks, float64: d × d numbers for each layer of each run."""
        full = [network.full(*end) for network, end in zip(self.networks, self.ends, strict=True)]
        return Weights(np.stack([one.hidden for one in full]), np.stack([one.readout for one in full]))
