"""How much two layers overlap, with all samples and without each block of them, from one pass over products.

For centred X and Y, ‖XᵀY‖² = Σ_rc K_rc L_rc with K = XXᵀ, L = YYᵀ. Let w_b be 1 for the blocks of samples that are
kept, N their samples. Centring them anew leaves

    ‖XᵀY‖²(w) = Σ_ij w_i w_j P_ij − (2/N) Σ_bij w_b w_i w_j Q_bij + (wᵀSw)(wᵀTw)/N²,    tr(XᵀX)(w) = wᵀt − wᵀSw/N,

with P_ij = Σ_{r∈i, c∈j} K_rc L_rc = ⟨X_iᵀY_i, X_jᵀY_j⟩, Q_bij = Σ_{r∈b} (x_r·s_i)(y_r·u_j), S_ij = s_i·s_j,
T_ij = u_i·u_j, t_b = Σ_{r∈b} |x_r|², where s_i and u_i are the sums of X and Y over block i. P is had from products
between units or between samples, whichever are fewer; products are in single precision, their sums in double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh
from scipy.linalg.blas import sgemm, ssyrk

from carryover.diagnosis.activations.responses import Responses
from carryover.errors import UserError

MEMORY = 3 * 2**29  # bytes of products that are held
_COLUMNS = 2**14  # products of blocks that are summed in single precision
_RESAMPLED = 1024  # dimensions up to which spectra are computed without each block, too


@dataclass(frozen=True)
class Overlaps:
    """(1 + blocks,) each: with all samples, then without each block. x: before, y: after finetuning."""

    xx: np.ndarray  # ‖XᵀX‖²
    yy: np.ndarray
    xy: np.ndarray  # ‖XᵀY‖²
    x: np.ndarray  # tr XᵀX
    y: np.ndarray
    rank_x: np.ndarray  # effective rank: NaN but for the first where units and samples are many
    rank_y: np.ndarray


def overlaps(before: Responses, after: Responses) -> Overlaps:
    """Overlaps of two layers of the same samples in the same blocks. Raises UserError where memory does not suffice."""
    samples, blocks = len(before.block), len(before.sums)
    units = max(before.layer.units, after.layer.units)
    kind: Any  # how to compute, of both alike
    if units <= samples and 4 * blocks * units**2 <= MEMORY:
        kind = _Units
    elif 8 * samples**2 <= MEMORY:
        kind = _Samples
    else:
        most = int((MEMORY / 8) ** 0.5), int((MEMORY / (4 * blocks)) ** 0.5)
        raise UserError(
            f"{after.layer.where} has {samples} samples of {units} units, more than memory is meant for: "
            f"at most {most[0]} samples or {most[1]} units are allowed"
        )
    x, y = kind(before), kind(after)
    xy, (xx, trace_x, rank_x), (yy, trace_y, rank_y) = x.with_other(y), x.alone(), y.alone()
    return Overlaps(xx, yy, xy, trace_x, trace_y, rank_x, rank_y)


def effective_rank(eigenvalues: np.ndarray) -> float:
    """exp(−Σ p log p) of p = λ/Σλ, O. Roy and M. Vetterli, "The effective rank" (2007); rounding below 0 is 0."""
    p = np.maximum(eigenvalues, 0, dtype=np.float64)
    if not p.sum() > 0:
        return np.nan
    p = p[p > 0] / p.sum()
    return float(np.exp(-(p * np.log(p)).sum()))


class _Products:
    """What both ways of computing P share: centring and leaving out."""

    def __init__(self, responses: Responses) -> None:
        self.responses, self.block, self.sums = responses, responses.block, responses.sums
        self.kept = np.vstack([np.ones(len(self.sums)), 1 - np.eye(len(self.sums))])  # (1 + blocks, blocks)
        self.counts = self.kept @ np.bincount(self.block)
        between = self.sums.astype(np.float64) @ self.sums.T
        self.squared_sum = np.einsum("wi,ij,wj->w", self.kept, between, self.kept)

    def centred(self, other: _Products, P: np.ndarray, Q: np.ndarray) -> np.ndarray:
        """‖XᵀY‖², (1 + blocks,)."""
        w = self.kept
        cross = np.einsum("wb,wi,wj,bij->w", w, w, w, Q, optimize=True)
        sums = self.squared_sum * other.squared_sum / self.counts**2
        return np.einsum("wi,ij,wj->w", w, P, w) - 2 / self.counts * cross + sums

    def trace(self, traces: np.ndarray) -> np.ndarray:
        return self.kept @ traces - self.squared_sum / self.counts


class _Units(_Products):
    """Products between units, (units, other units) for each block of samples."""

    def with_other(self, other: _Units) -> np.ndarray:
        return self.centred(other, *self._moments(other)[:2])

    def alone(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        P, Q, products = self._moments(self)
        diagonals = np.einsum("bii->bi", products).astype(np.float64)
        P = 2 * P - diagonals @ diagonals.T  # of one triangle
        total = products.sum(axis=0)
        ranks = np.full(len(self.kept), np.nan)
        if len(total) <= _RESAMPLED:
            for out, (part, s) in enumerate(zip(products, self.sums, strict=True)):
                ranks[1 + out] = _rank((total - part - np.outer(s, s / max(self.counts[1 + out], 1))).T)
        ranks[0] = _rank(total.T)
        return self.centred(self, P, Q), self.trace(diagonals.sum(axis=1)), ranks

    def _moments(self, other: _Units) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """P, Q and the products, of which there is the lower triangle alone where `other` is this one."""
        x, y, blocks = self.responses, other.responses, len(self.sums)
        products = x.rooms.get("products", blocks, x.layer.units, y.layer.units)
        products.fill(0)
        Q = np.zeros((blocks,) * 3)
        step = min(x.step, y.step)
        others = y.parts(step) if other is not self else None
        for rows, a in x.parts(step):
            c = a if others is None else next(others)[1]
            for b in range(blocks):
                mine = self.block[rows] == b
                _add(products[b], a[mine], None if other is self else c[mine])
                Q[b] += (a[mine] @ self.sums.T).T.astype(np.float64) @ (c[mine] @ other.sums.T)
        flat, P = products.reshape(blocks, -1), np.zeros((blocks, blocks))
        for start in range(0, flat.shape[1], _COLUMNS):
            some = flat[:, start : start + _COLUMNS]
            P += some @ some.T
        return P, Q, products


class _Samples(_Products):
    """Products between samples, (samples, samples)."""

    def __init__(self, responses: Responses) -> None:
        super().__init__(responses)
        self.kernel = _kernel(responses)

    def with_other(self, other: _Samples) -> np.ndarray:
        blocks = len(self.sums)
        P, Q, indicator = np.zeros((blocks, blocks)), np.zeros((blocks,) * 3), np.eye(blocks)[self.block]
        for b in range(blocks):
            K, L = (products.kernel[self.block == b] for products in (self, other))
            P[b] = (K * L).sum(axis=0, dtype=np.float64) @ indicator
            Q[b] = (K @ indicator).T @ (L @ indicator)
        return self.centred(other, P, Q)

    def alone(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        squared = self.with_other(self)
        trace = self.trace(np.bincount(self.block, np.diag(self.kernel).astype(np.float64)))
        ranks = np.full(len(self.kept), np.nan)
        if len(self.kernel) <= _RESAMPLED:
            for out in range(len(self.sums)):
                part = self.kernel[np.ix_(*2 * (self.block != out,))]
                part -= part.mean(axis=0)
                ranks[1 + out] = _rank((part - part.mean(axis=1)[:, None]).T)
        ranks[0] = _rank(self.kernel.T)  # in place: nothing else reads it afterwards
        return squared, trace, ranks


def _add(products: np.ndarray, a: np.ndarray, c: np.ndarray | None) -> None:
    """products += aᵀc in place, or of aᵀa its lower triangle."""
    if c is None:
        ssyrk(1.0, a.T, beta=1.0, c=products.T, overwrite_c=1)
    else:
        sgemm(1.0, c.T, a.T, trans_b=1, beta=1.0, c=products.T, overwrite_c=1)


def _kernel(x: Responses) -> np.ndarray:
    """XXᵀ, (samples, samples) float32: as many samples as fit are held and multiplied with all that follow."""
    samples = len(x.block)
    kernel = np.empty((samples, samples), np.float32)
    for rows, held in x.parts(x.step):
        np.matmul(held, held.T, out=kernel[rows, rows])
        for columns, some in x.parts(max(1, x.step // 4), rows.stop, room=" beside"):
            kernel[rows, columns] = held @ some.T
            kernel[columns, rows] = kernel[rows, columns].T
    return kernel


def _rank(matrix: np.ndarray) -> float:
    """Effective rank of a symmetric matrix in column order, of which the upper triangle is read and lost."""
    return effective_rank(eigvalsh(matrix, lower=False, overwrite_a=True, check_finite=False, driver="evd"))
