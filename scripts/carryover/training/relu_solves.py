"""Solutions of (I + s JᵀDJ) u = v for the tangent features J of ReLU networks: what a step of their flow asks for.

By Woodbury u = v − √s Jᵀ√D (I + s √D K √D)⁻¹ √s √D J v, with the tangent kernel K of the size of all samples N. A
factor of that matrix costs N²H + N³/6 multiplications and 8 N² bytes, once a step. Conjugate gradients need products
with J and Jᵀ alone, of NHD multiplications each, and dozens of them, the more the longer the step: they are for
thousands of samples, or where the memory is too small for K.
"""

from __future__ import annotations

import os
import sys
from typing import Protocol

import numpy as np
import torch
from scipy.linalg.blas import strsv
from scipy.linalg.lapack import spotrf

from carryover.training.relu_tangent import Point, Tangent, Vector

_BYTES = 8  # of a factor for each entry of K: the matrix, and what it is made from
_SHARE = 0.5  # of the memory, that K may take
_ITERATIONS = 100  # of conjugate gradients that a solution takes late in training
_MOST = 1000  # of them, before a step is given up
_FINEST = 1e-6  # relative residual that single precision bears


class Solver(Protocol):
    """The solution for one `Vector`, of runs that are `done` (R,) where it is one."""

    done: torch.Tensor

    def __call__(self, vector: Vector) -> Vector: ...


class Factor:
    """By a Cholesky factor, in single precision."""

    def __init__(self, tangent: Tangent, point: Point, scale: torch.Tensor) -> None:
        self.tangent, self.point = tangent, point
        self.root = (tangent.curvature(point) * scale[:, None]).sqrt()
        matrix = tangent.kernel(point, self.root)
        matrix.diagonal(dim1=1, dim2=2).add_(1.0)
        self.triangles: list[np.ndarray] = []
        if matrix.device.type == "cpu":  # one by one, in place: PyTorch's takes five times as long on some processors
            factored = [spotrf(one.T, lower=0, overwrite_a=1, clean=0) for one in matrix.numpy()]
            self.triangles = [triangle for triangle, _ in factored]
            failed = torch.tensor([info for _, info in factored])
        else:
            self.factor, failed = torch.linalg.cholesky_ex(matrix)
        self.done = failed == 0

    def __call__(self, vector: Vector) -> Vector:
        # J v is small where v is slow: with products in single precision late steps would all be rejected.
        right = (self.tangent.times(self.point, vector) * self.root).float()
        return _less(self.tangent, self.point, vector, self._solved(right).double() * self.root)

    def _solved(self, right: torch.Tensor) -> torch.Tensor:
        if not self.triangles:
            return torch.cholesky_solve(right[:, :, None], self.factor)[:, :, 0]
        pairs = zip(self.triangles, right.numpy(), strict=True)
        return torch.from_numpy(np.stack([strsv(u, strsv(u, one, trans=1)) for u, one in pairs]))


class ConjugateGradients:
    """By conjugate gradients, until the residual is the smaller one by a `precision`; products in single precision."""

    def __init__(self, tangent: Tangent, point: Point, scale: torch.Tensor, precision: float) -> None:
        self.tangent, self.point, self.precision = tangent, point, max(precision, _FINEST)
        self.root = (tangent.curvature(point) * scale[:, None]).sqrt()
        self.single, self.there, self.float_root = tangent.single(), point.single(), self.root.float()
        self.done = torch.isfinite(self.root).all(1)

    def __call__(self, vector: Vector) -> Vector:
        right = (self.tangent.times(self.point, vector) * self.root).float()
        inner, residual = torch.zeros_like(right), right
        direction, square = residual, residual.square().sum(1)
        enough = square * self.precision**2
        for _ in range(_MOST):
            going = square > enough
            if not going.any():
                break
            product = self._product(direction)
            length = torch.where(going, square / (direction * product).sum(1), 0.0)[:, None]
            inner, residual = inner + length * direction, residual - length * product
            before, square = square, residual.square().sum(1)
            direction = residual + torch.where(going, square / before, 0.0)[:, None] * direction
        self.done = self.done & (square <= enough)
        return _less(self.tangent, self.point, vector, inner.double() * self.root)

    def _product(self, values: torch.Tensor) -> torch.Tensor:
        samples = (self.float_root * values).split(self.single.rows, 1)
        return values + self.float_root * self.single.times(self.there, self.single.transposed(self.there, samples))


def _less(tangent: Tangent, point: Point, vector: Vector, samples: torch.Tensor) -> Vector:
    """The vector without Jᵀ of values (R, N) of the samples."""
    off = tangent.transposed(point, samples.split(tangent.rows, 1))
    return vector[0] - off[0], vector[1] - off[1]


def factored(samples: int, width: int, inputs: int, place: torch.device) -> bool:
    """Whether networks are better solved by a factor; said on stderr where that is for want of memory alone."""
    iterative = 4 * _ITERATIONS * width * inputs  # two solutions a step, of two products an iteration
    if samples * (width + samples / 6) > iterative:
        return False
    needed, there = _BYTES * samples**2, memory(place)
    if needed <= _SHARE * there:
        return True
    print(
        f"the tangent kernel of {samples} samples takes {needed / 2**30:.1f} GiB, more than half of the memory of "
        f"{there / 2**30:.1f} GiB: using conjugate gradients, which do without",
        file=sys.stderr,
    )
    return False


def memory(place: torch.device) -> int:
    """Bytes of memory of a device."""
    if place.type == "cuda":
        return torch.cuda.mem_get_info(place)[1]
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
