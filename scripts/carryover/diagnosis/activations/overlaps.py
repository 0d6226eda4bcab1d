"""How much two layers overlap, with all samples and without each block of them.

For centred X and Y with K = XXᵀ and L = YYᵀ, ‖XᵀY‖² = Σ_rc K_rc L_rc. Of some of the samples, N, that are centred anew,
with sums s and u over them, it is ‖C − suᵀ/N‖² with C = XᵀY, and Σ K_rc L_rc − (2/N) Σ_r k_r l_r + Σk Σl / N² with the
sums of rows k and l. The first is used of fewer units than samples, the second of more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from carryover.errors import UserError
from carryover.streams import generator

BLOCKS = 20
MEMORY = 3 * 2**29  # bytes of products that are held
_COLUMNS = 2**13  # products that are summed in single precision


@dataclass(frozen=True)
class Overlaps:
    """(1 + blocks,) each: with all samples, then without each block. x: before, y: after finetuning."""

    xx: np.ndarray  # ‖XᵀX‖²
    yy: np.ndarray
    xy: np.ndarray  # ‖XᵀY‖²
    x: np.ndarray  # tr XᵀX
    y: np.ndarray


def dealt(samples: int) -> np.ndarray:
    """(samples,) block of each sample, `BLOCKS` of them or as many as samples, of equal sizes up to one, at random."""
    order = generator("diagnosis", "", 0, "blocks").permutation(samples)
    return order % min(BLOCKS, samples)


def overlaps(X: np.ndarray, Y: np.ndarray, block: np.ndarray) -> Overlaps:
    """Overlaps of centred responses (samples, units) in float32; block: (samples,).

    Raises UserError where products take more than `MEMORY`.
    """
    samples, units = len(X), max(X.shape[1], Y.shape[1])
    blocks = [np.flatnonzero(block == b) for b in range(block.max() + 1)]
    if units <= samples and 4 * len(blocks) * units**2 <= MEMORY:
        xx, yy, xy = (_between_units(*pair, blocks) for pair in ((X, X), (Y, Y), (X, Y)))
    elif 8 * samples**2 <= MEMORY:
        K, L = X @ X.T, Y @ Y.T
        xx, yy, xy = (_between_samples(*pair, blocks) for pair in ((K, K), (L, L), (K, L)))
    else:
        most = int((MEMORY / 8) ** 0.5), int((MEMORY / (4 * len(blocks))) ** 0.5)
        raise UserError(
            f"a layer of {samples} samples of {units} units is too large for memory: at most {most[0]} samples "
            f"or {most[1]} units are allowed"
        )
    return Overlaps(xx, yy, xy, _trace(X, blocks), _trace(Y, blocks))


def _kept(sums: Sequence[Any]) -> np.ndarray:
    """Sums over all blocks, then without each."""
    parts = np.array(sums, dtype=np.float64)
    return np.concatenate([parts.sum(axis=0)[None], parts.sum(axis=0) - parts])


def _counts(blocks: Sequence[np.ndarray]) -> np.ndarray:
    return np.maximum(_kept([len(rows) for rows in blocks]), 1)


def _trace(X: np.ndarray, blocks: Sequence[np.ndarray]) -> np.ndarray:
    total = _kept([squares(X[rows]).sum() for rows in blocks])
    sums = _kept([X[rows].sum(axis=0, dtype=np.float64) for rows in blocks])
    return total - (sums**2).sum(axis=1) / _counts(blocks)


def _between_units(X: np.ndarray, Y: np.ndarray, blocks: Sequence[np.ndarray]) -> np.ndarray:
    """‖XᵀY‖² of all samples, and without each block."""
    products = np.empty((1 + len(blocks), X.shape[1], Y.shape[1]), np.float32)
    for product, rows in zip(products[1:], blocks, strict=True):
        x = X[rows]
        np.matmul(x.T, x if Y is X else Y[rows], out=product)  # of one matrix in half the time
    np.sum(products[1:], axis=0, out=products[0])
    np.subtract(products[0], products[1:], out=products[1:])
    s, u = (_kept([Z[rows].sum(axis=0, dtype=np.float64) for rows in blocks]) for Z in (X, Y))
    cross = [a @ (product @ b.astype(np.float32)) for a, product, b in zip(s, products, u, strict=True)]
    outer = (s**2).sum(axis=1) * (u**2).sum(axis=1)
    whole = np.array([squares(product).sum() for product in products])
    return whole - 2 * np.array(cross) / _counts(blocks) + outer / _counts(blocks) ** 2


def _between_samples(K: np.ndarray, L: np.ndarray, blocks: Sequence[np.ndarray]) -> np.ndarray:
    """The same, Σ K_rc L_rc, from products between samples."""
    parts = [(K[rows] * L[rows]).sum(axis=0, dtype=np.float64) for rows in blocks]
    P = np.array([[part[rows].sum() for rows in blocks] for part in parts])
    weights = np.vstack([np.ones(len(P)), 1 - np.eye(len(P))])
    member = np.array([np.bincount(rows, minlength=len(K)) for rows in blocks])
    kept = weights @ member
    k, l = (_kept([M[rows].sum(axis=0, dtype=np.float64) for rows in blocks]) * kept for M in (K, L))  # noqa: E741
    sums = k.sum(axis=1) * l.sum(axis=1)
    whole = np.einsum("wi,ij,wj->w", weights, P, weights)
    return whole - 2 * (k * l).sum(axis=1) / _counts(blocks) + sums / _counts(blocks) ** 2


def squares(values: np.ndarray) -> np.ndarray:
    """Sums of squares of each row in double precision, of single precision within `_COLUMNS`."""
    parts = [values[:, start : start + _COLUMNS] for start in range(0, values.shape[1], _COLUMNS)]
    return np.asarray(np.sum([np.einsum("ij,ij->i", part, part) for part in parts], axis=0, dtype=np.float64))
