"""Deep linear networks f(x) = x · W_1 W_2 … W_L: W_1 … W_{L−1} square, W_L a vector ("Features are fate", eq 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Weights:
    """`hidden` (..., L − 1, d, d), the matrices W_1 … W_{L−1}, and the `readout` W_L (..., d)."""

    hidden: np.ndarray
    readout: np.ndarray

    def __getitem__(self, index: Any) -> Weights:
        """The networks at these places of the leading axis."""
        return Weights(self.hidden[index], self.readout[index])

    def coefficients(self) -> np.ndarray:
        """β = W_1 W_2 … W_L, (..., d)."""
        beta = self.readout
        for layer in np.moveaxis(self.hidden, -3, 0)[::-1]:
            beta = (layer @ beta[..., None])[..., 0]
        return beta

    def features(self) -> np.ndarray:
        """Φ = W_1 W_2 … W_{L−1}, (..., d, d): a column for each hidden feature (theorem 3.4); I for L = 1."""
        product = np.broadcast_to(np.eye(self.readout.shape[-1]), (*self.readout.shape, self.readout.shape[-1]))
        for layer in np.moveaxis(self.hidden, -3, 0):
            product = product @ layer
        return product


def rank_one_network(coefficients: np.ndarray, depth: int) -> Weights:
    """The network of rank one whose layers share the norm |β|^{1/L} and whose product is β (..., d).

    Definition 5.1 of "Finetuning with linear teachers": W_1 = |β|^{1/L} β̂ vᵀ, the others |β|^{1/L} v vᵀ, and
    W_L = |β|^{1/L} v. Any unit vector v gives the same β at all times; it is the first axis here. For β = 0, where no
    layer has a direction, they are NaN.
    """
    beta = np.asarray(coefficients, dtype=np.float64)
    norm = np.linalg.norm(beta, axis=-1, keepdims=True)
    if depth == 1:
        return Weights(np.zeros((*beta.shape[:-1], 0, beta.shape[-1], beta.shape[-1])), beta)
    scale = norm ** (1 / depth)
    hidden = np.zeros((*beta.shape[:-1], depth - 1, beta.shape[-1], beta.shape[-1]))
    hidden[..., 0, :, 0] = scale * beta / norm
    hidden[..., 1:, 0, 0] = scale
    return Weights(hidden, scale * np.eye(beta.shape[-1])[0])
