"""Full gradient descent on ensembles of deep linear networks, in coordinates without the weights that never change.

The loss |Xβ − y|²/(2n) of β = W_1 … W_L moves W_1 along the row space of X alone. With the data `Factored` and
A = V W_1, k × d, the product a = A W_2 … W_L is trained: with g = ∂L/∂a = diag(s)(diag(s) a − t)/n each gradient is of
rank one, ∂L/∂A = g (W_2 … W_L)ᵀ, so a step takes products of matrices with vectors only. It adds to a matrix W_l
columns in the span of the product to its left, and rows in that of the product to its right. Hence a hidden layer uses
only the initial span of the rows of the matrix before it and of the columns of the one after it: at most k + 1
dimensions of two layers, a single one of pretrained networks of rank one. Steps of gradient descent are the same in
these reduced coordinates. The rest of W_1 is constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from carryover.networks.deep_linear import Weights
from carryover.training.devices import tensor, torch_device
from carryover.training.integrate import Descent, History, Values, log_checkpoints, train
from carryover.training.linear_flow import Factored
from carryover.training.result import Divergence, Trained

# Size of a group's matrices. On a CPU, products of several matrices with vectors are slower than those of one, so only
# networks that are small enough for the overhead of calls to dominate are trained together.
_BYTES = {"cpu": 2**18, "cuda": 2**31}


class _Group(Descent):
    """Deep linear networks in reduced coordinates, layers A, W_2, …, W_L (R, ·, ·), and data s and t (R, k, 1)."""

    PER_RUN = (*Descent.PER_RUN, "_values", "_targets", "_samples", "layers")

    def __init__(
        self, runs: np.ndarray, *, data: Sequence[Factored], coordinates: Coordinates, layers: Sequence[np.ndarray],
        targets: np.ndarray, risk: Callable[[np.ndarray, np.ndarray], np.ndarray], rate: float, tolerance: float,
        schedule: np.ndarray, dtype: torch.dtype, device: torch.device,
    ) -> None:  # fmt: skip
        self.runs, self.rate, self._coordinates, self._risk = np.asarray(runs), rate, coordinates, risk
        self.layers = [tensor(layer[runs], device, dtype) for layer in layers]
        self._values = tensor([data[run].values for run in runs], device)[:, :, None]
        self._targets = tensor(targets[runs], device)[:, :, None]
        self._samples = tensor([data[run].samples for run in runs], device)
        self.prepare()
        self.begin(schedule, tolerance)

    def prepare(self) -> None:
        """Coefficients of a step, which changes a by offset − slope · a."""
        dtype, factor = self.layers[0].dtype, self.rate / self._samples[:, None, None]
        self._slope = (factor * self._values**2).to(dtype)
        self._offset = (factor * self._values * self._targets).to(dtype)

    def _products(self) -> list[torch.Tensor]:
        """W_L, W_{L−1} W_L, …, the last of them a."""
        *matrices, product = self.layers
        products = [product]
        for matrix in reversed(matrices):
            products.append(torch.bmm(matrix, products[-1]))
        return products

    def epoch(self) -> None:
        """One step of gradient descent on all layers, in place; the gradients are those before the step."""
        # Every gradient has rank one: −rate ∂L/∂W_l is leftᵀ rightᵀ, with the row left = −rate gᵀ A W_2 … W_{l−1} and
        # the column right = W_{l+1} … W_L. The loop takes `left` through a layer before it changes this layer.
        *rights, a = self._products()
        left = torch.addcmul(self._offset, self._slope, a, value=-1).transpose(1, 2)  # −rate · gᵀ
        for matrix, right in zip(self.layers[:-1], reversed(rights), strict=True):
            onward = torch.bmm(left, matrix)
            matrix.baddbmm_(left.transpose(1, 2), right.transpose(1, 2))
            left = onward
        self.layers[-1].add_(left.transpose(1, 2))

    def coefficients(self) -> np.ndarray:
        """β = Vᵀa + S W_2 … W_L, (R, d), in float64, where S is the rest of W_1, which is constant.

        V (k, d) and S (d, r), `still`, are kept for all runs; `self.runs` are the numbers (R,) of the group's runs.
        """
        *rights, a = self._products()
        right = rights[-1] if rights else torch.ones(len(self), 1, 1)
        vectors = (values[:, :, 0].double().cpu().numpy() for values in (a, right))
        V, still = self._coordinates.directions, self._coordinates.still
        rows = zip(self.runs, *vectors, strict=True)
        return np.stack([inside @ V[run] + still[run] @ behind for run, inside, behind in rows])

    def observe(self) -> dict[str, Values]:
        return {"risk": self._risk(self.runs, self.coefficients())}

    def weights(self) -> list[Values]:
        """β and the layers, (R, …)."""
        return [self.coefficients(), *self.layers]

    def losses(self) -> torch.Tensor:
        """|Xβ − y|²/(2n) above its floor, (R,), in float64."""
        residual = self._values * self._products()[-1].double() - self._targets  # s b − t (R, k, 1)
        return residual.square().sum((1, 2)) / (2 * self._samples)


def gradient_descent(
    data: Sequence[Factored], targets: np.ndarray, sets: np.ndarray, start: Weights, *, learning_rate: float,
    max_steps: int, precision: str = "float32", device: str = "auto", **settings: Any,
) -> Trained:  # fmt: skip
    """Train every run by gradient descent on |Xβ − y|²/(2n), until this is within `tolerance` of its minimum over β.

    Parameters
    ----------
    data, targets, sets
        Data sets, `Factored` inputs of equal rank k; targets t = Uᵀy (runs, k); index of each run's data set (runs,).
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
    place, dtype, history = torch_device(device), getattr(torch, precision), History(len(targets))
    own = [data[s] for s in sets]
    coordinates, layers = Coordinates.of([one.directions for one in own], start)
    size = sum(layer[0].size for layer in layers)  # weights of one network, in reduced coordinates
    group = partial(
        _Group, data=own, coordinates=coordinates, layers=layers, targets=targets, rate=learning_rate,
        schedule=log_checkpoints(max_steps), dtype=dtype, device=place, **settings,
    )  # fmt: skip
    if diverged := train(group, history, _BYTES[place.type] // (size * dtype.itemsize)):
        raise Divergence(diverged, f"gradient descent diverged with learning rate {learning_rate:g}")
    return history.result(lambda beta, *layers: Reduced(beta, coordinates, layers))


@dataclass(frozen=True)
class Coordinates:
    """Reduced coordinates of networks, whose leading axis is the run.

    With what stands still, W_1 = Vᵀ A + (I − VᵀV) W_1(0).
    """

    directions: Sequence[np.ndarray]  # V (k, d) of each run, the same array where runs share data
    start: Weights
    bases: Sequence[np.ndarray | None]  # (runs, d, r) of each hidden layer's units; None where all d are used
    still: np.ndarray  # (I − VᵀV) W_1(0), (runs, d, r), or that of the readout (runs, d, 1) where it is the first layer

    @classmethod
    def of(cls, directions: Sequence[np.ndarray], start: Weights) -> tuple[Coordinates, list[np.ndarray]]:
        """The reduced coordinates of networks `start`, and in them the initial layers A, W_2, …, W_L (runs, ·, ·).

        `directions` are V (k, d) of each run's inputs, and A = V W_1.
        """
        V, (first, *others) = np.stack(directions), [*start.hidden.swapaxes(0, 1), start.readout[:, :, None]]
        layers = [V @ first, *others]
        bases: list[np.ndarray | None] = []
        for before, after in pairwise(layers):
            # Of a hidden layer's units only the span of the rows of the matrix before it and of the columns of the
            # one after it is ever used. Its basis is found by singular values rather than QR: pretrained layers are of
            # rank one up to rounding, which only singular values can tell from a small direction. All runs have the
            # largest rank of any run, so that their arrays have one shape.
            both = np.concatenate([before.mT, after], 2).astype(np.float64)
            left, values, _ = np.linalg.svd(both, full_matrices=False)
            rank = int((values > max(both.shape[1:]) * np.finfo(float).eps * values[:, :1]).sum(1).max())
            bases.append(left[:, :, : max(rank, 1)] if rank < both.shape[1] else None)
        for place, basis in enumerate(bases):
            if basis is not None:
                layers[place] = layers[place] @ basis
                layers[place + 1] = basis.mT @ layers[place + 1]
        first = first @ bases[0] if bases and bases[0] is not None else first
        return cls(directions, start, bases, _still(first, V, layers[0])), layers


@dataclass(frozen=True)
class Reduced:
    """Networks after training: `coefficients` β (runs, d), float64, and what their matrices are made of."""

    coefficients: np.ndarray
    coordinates: Coordinates
    layers: Sequence[np.ndarray]  # (runs, ·, ·)

    def full(self) -> Weights:
        """All matrices of all networks, float64: d × d numbers for each hidden layer of each run.

        `layers` are in reduced coordinates: inputs in the basis V of their row space, hidden units in the `bases`. Only
        the first layer has a part outside of these, which training does not change: it is added here as at the start.
        """
        V, start, layers = np.stack(self.coordinates.directions), self.coordinates.start, list(self.layers)
        for place, basis in enumerate(self.coordinates.bases):
            if basis is not None:
                layers[place] = layers[place] @ basis.mT
                layers[place + 1] = basis @ layers[place + 1]
        first = start.hidden[:, 0] if self.coordinates.bases else start.readout[:, :, None]
        layers[0] = V.mT @ layers[0] + _still(first, V, V @ first)
        hidden = np.empty(start.hidden.shape)
        for place, layer in enumerate(layers[:-1]):
            hidden[:, place] = layer
        return Weights(hidden, layers[-1][:, :, 0].astype(np.float64))


def _still(first: np.ndarray, V: np.ndarray, moving: np.ndarray) -> np.ndarray:
    """The first layer W less Vᵀ(VW), which moves; 0, without rounding, where V spans the whole space."""
    return np.zeros(first.shape) if V.shape[1] == V.shape[2] else first - V.mT @ moving
