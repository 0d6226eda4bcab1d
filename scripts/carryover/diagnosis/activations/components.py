"""Principal components of a layer's responses, and how many of them count.

What a layer holds does not depend on how loudly it says it, so that inheritance is asked of components of unit
variance: of those that hold nearly all variance, each as much as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils.extmath import randomized_svd

HELD = 2**29  # bytes of a layer, at the samples of which components are taken
SAMPLES = 4096  # of which components are taken: intervals of shares are narrower than .01 by then
MOST = 512  # components of a layer
_EXACT = 1024  # the smaller of samples and units up to which all components are computed
_ROUNDING = 1e-10  # share of the largest variance below which there is rounding alone
DOMINANT = 0.9  # share of all variance from which on a direction is one that hides the others


@dataclass(frozen=True)
class Components:
    """The leading components of a layer, at some of the samples.

    Attributes: variances (k,), descending, as shares of all; scores (samples, k), of unit variance over these samples;
    counted, how many of them hold nearly all variance; seen, how many leave out a tenth of what `counted` leaves out.
    """

    variances: np.ndarray
    scores: np.ndarray
    counted: int
    seen: int

    @property
    def weighted(self) -> np.ndarray:
        """(samples, k) scores with the variances that the layer gives them."""
        return self.scores * np.sqrt(self.variances)

    @property
    def dominant(self) -> float:
        """Share of all variance that the first direction holds."""
        return float(self.variances[0])


def chosen(samples: int, layers: Sequence[int]) -> np.ndarray:
    """Which samples components are taken at, spread over all."""
    return np.linspace(0, samples - 1, min(samples, most_samples(layers))).astype(int)


def most_samples(layers: Sequence[int]) -> int:
    """How many samples components are taken at, if there are so many; fewer of layers with very many units."""
    return min(SAMPLES, max(HELD // (4 * max(layers)), 64))


def components(X: np.ndarray, share: float, like: Components | None = None) -> Components:
    """The components of responses (samples, units), counted until they hold `share` of the variance.

    Where one direction holds more than `DOMINANT` of all it counts, and of the others those that hold `share` of what
    it leaves: else there would be one component, whatever became of all the others. A layer that has such a direction
    unlike the one it came from, `like`, has become narrow, and nothing is hidden.
    """
    X = X - X.mean(axis=0)
    total = float(np.square(X, dtype=np.float64).sum())
    if min(X.shape) > _EXACT:
        U, s, _ = randomized_svd(X, MOST, n_iter=4, random_state=0)
        squares = s.astype(np.float64) ** 2
    else:
        U, squares = _exact(X.astype(np.float64))
    there = squares > _ROUNDING * squares[0]
    squares, U = squares[there][:MOST], U[:, there][:, :MOST]
    variances = squares / total
    first = int(variances[0] > DOMINANT and (like is None or like.dominant > DOMINANT))
    counts = [_counted(variances, first, one) for one in (share, 0.9 + share / 10)]
    return Components(variances, U.astype(np.float64) * len(X) ** 0.5, *counts)


def _exact(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(left singular vectors, squared singular values), by the smaller Gram matrix."""
    if len(X) <= X.shape[1]:
        squares, U = np.linalg.eigh(X @ X.T)
        return U[:, ::-1], squares[::-1]
    squares, V = np.linalg.eigh(X.T @ X)
    squares, V = squares[::-1], V[:, ::-1]
    return X @ V / np.sqrt(np.maximum(squares, np.finfo(float).tiny)), squares


def _counted(variances: np.ndarray, first: int, share: float) -> int:
    """How many hold `share` of what the first ones leave, these included."""
    left = np.cumsum(variances[first:]) / max(1 - variances[:first].sum(), np.finfo(float).tiny)
    return min(first + int(np.searchsorted(left, share)) + 1, len(variances))
