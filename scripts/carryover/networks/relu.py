"""Shallow ReLU networks without bias, f_o(x) = Σ_h a_{o,h} relu(w_h · x)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Weights:
    """Input weights `first` (..., H, D) and readouts `second` (..., O, H)."""

    first: np.ndarray
    second: np.ndarray

    def __getitem__(self, index: Any) -> Weights:
        """The networks at these places of the leading axis."""
        return Weights(self.first[index], self.second[index])

    def like(self, first: np.ndarray, second: np.ndarray) -> Weights:
        """Networks of these layers, in the types of these ones."""
        return Weights(first.astype(self.first.dtype, copy=False), second.astype(self.second.dtype, copy=False))

    @classmethod
    def of_dataset(cls, data: Any, prefix: str = "") -> Weights:
        """Those of a shard, or of one run of it, in double precision; with the prefix "start_" before training."""
        return cls(*(data[f"{prefix}{name}"].values.astype(np.float64) for name in ("first", "second")))

    @classmethod
    def stack(cls, networks: Sequence[Weights]) -> Weights:
        """Networks of one size along a new leading axis."""
        return cls(np.stack([one.first for one in networks]), np.stack([one.second for one in networks]))

    def responses(self, X: ArrayLike) -> np.ndarray:
        """Hidden responses relu(w_h · x), (..., n, H), of inputs X (..., n, D)."""
        return np.maximum(np.asarray(X) @ np.swapaxes(self.first, -1, -2), 0)

    def outputs(self, X: ArrayLike) -> np.ndarray:
        """f_o(x), (..., n, O), of inputs X (..., n, D)."""
        return self.responses(X) @ np.swapaxes(self.second, -1, -2)

    def importance(self) -> np.ndarray:
        """Contribution of each unit to the outputs, (..., H): ‖its readouts‖₂ ‖its input weights‖₂.

        Footnote 3 of the appendix. It stays what it is where a unit's input weights grow and its readouts shrink by the
        same factor, which leaves the function alone, too.
        """
        return np.linalg.norm(self.second, axis=-2) * np.linalg.norm(self.first, axis=-1)
