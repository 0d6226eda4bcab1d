"""Tangent features of shallow ReLU networks, whole ensembles at once: their products, kernel, and linear systems.

With the activation pattern m_ih = 1[w_h · x_i > 0] the Jacobian of the outputs f_o(x_i) = Σ_h a_oh relu(w_h · x_i) is

    ∂f_o(x_i)/∂w_h = a_oh m_ih x_i,   ∂f_o(x_i)/∂a_oh = relu(w_h · x_i) = m_ih w_h · x_i,

and its kernel over the samples of all outputs K = J Jᵀ = (X Xᵀ) ∘ (m diag(a_o a_p) mᵀ) + δ_op relu reluᵀ. Units that
stay on a sphere move along its tangent alone, which takes relu diag(a_o a_p / |w|²) reluᵀ off. As units are
homogeneous, products with J and Jᵀ are one matrix product with m each, and no pass over the hidden responses.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy.linalg.blas import ssyrk

from carryover.training.devices import tensor
from carryover.training.integrate import replace_runs, slices, take_runs
from carryover.training.losses import LOSSES
from carryover.training.result import Samples
from carryover.training.steppers import Cholesky

_FEATURES = {"cpu": 2**18, "cuda": 2**40}  # of networks whose kernels are made at a time: what stays in the cache


Vector = tuple[torch.Tensor, torch.Tensor]  # of the weights' space: first (R, H, D), second (R, O, H)


@dataclass(frozen=True)
class Point:
    """Where an ensemble stands; lists hold a tensor for each output."""

    first: torch.Tensor  # (R, H, D)
    second: torch.Tensor  # (R, O, H)
    responses: list[torch.Tensor]  # of hidden units, (R, n_o, H)
    active: list[torch.Tensor]  # their pattern, 0 or 1
    outputs: list[torch.Tensor]  # (R, n_o)
    loss: torch.Tensor  # (R,)
    negative_gradients: list[torch.Tensor]  # −∂L/∂f, (R, n_o)

    def where(self, mask: torch.Tensor, other: Point) -> Point:
        """This point for the runs of the mask (R,), the other for the rest."""
        if mask.all():
            return self
        if not mask.any():
            return other
        return Point(*(replace_runs(mask, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    def __getitem__(self, which: torch.Tensor) -> Point:
        """The runs of a boolean mask."""
        return Point(*(take_runs(getattr(self, f.name), which) for f in fields(self)))


class Tangent:
    """The data of an ensemble, and its tangent features at any weights, in double precision but for the kernel."""

    def __init__(
        self, tasks: Sequence[Samples], runs: np.ndarray, loss: str, device: torch.device, trainable: Container[str],
        lengths: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        """A task for each output; `runs` (R,) are the places of the ensemble's networks among the runs of the tasks.

        Input weights always move, readouts if "second" is `trainable`. `lengths` (R, H, 1) are those of the input
        weights of units that keep them.
        """
        self.X = [tensor(task.X[task.sets[runs]], device) for task in tasks]  # (R, n_o, D)
        self.y = [tensor(task.y[runs], device) for task in tasks]  # (R, n_o)
        self.loss, self.lengths = LOSSES[loss], lengths
        self.readouts_move = "second" in trainable
        self.rows = [x.shape[1] for x in self.X]  # n_o, samples of each output
        self._room = torch.zeros(0, 0, 0)  # memory that `kernel` fills again and again

    def __getitem__(self, which: torch.Tensor) -> Tangent:
        """The runs of a boolean mask."""
        some = copy(self)
        some.X, some.y, some.lengths = take_runs([self.X, self.y, self.lengths], which)
        return some

    def at(self, first: torch.Tensor, second: torch.Tensor) -> Point:
        """The point at weights `first` (R, H, D) and `second` (R, O, H), with lists by output of (R, n) and (R, n, H).

        Input weights are scaled back to their fixed lengths, where they have such; `active` is 1 where a unit responds.
        """
        if self.lengths is not None:
            first = first * (self.lengths / first.norm(dim=2, keepdim=True))
        responses = [_product(x, first.mT).relu_() for x in self.X]
        outputs = [(r @ second[:, o, :, None])[:, :, 0] for o, r in enumerate(responses)]
        pairs = list(zip(outputs, self.y, strict=True))
        loss = torch.stack([self.loss.value(f, y).mean(1) for f, y in pairs]).sum(0)
        gradients = [self.loss.negative_gradient(f, y) / y.shape[1] for f, y in pairs]
        active = [r.sign() for r in responses]
        return Point(first, second, responses, active, outputs, loss, gradients)

    def curvature(self, point: Point) -> torch.Tensor:
        """∂²L/∂f², (R, N) over the samples of all outputs."""
        pairs = zip(point.outputs, self.y, strict=True)
        return torch.cat([self.loss.curvature(f, y) / y.shape[1] for f, y in pairs], 1)

    def apply_transpose(self, point: Point, samples: Sequence[torch.Tensor]) -> Vector:
        """Jᵀ v for values v[o] (R, n_o) of the samples."""
        first, second = torch.zeros_like(point.first), torch.zeros_like(point.second)
        for o, (x, m, v) in enumerate(zip(self.X, point.active, samples, strict=True)):
            total = _product(m.mT, x * v[:, :, None])
            first.addcmul_(point.second[:, o, :, None], total)
            if self.readouts_move:
                second[:, o] = (point.first * total).sum(2)
        return self._along(point, first), second

    def times(self, point: Point, vector: Vector) -> torch.Tensor:
        """J v (R, N): the change of all outputs, of all samples, per unit of a change v of the weights."""
        first, second = self._along(point, vector[0]), vector[1]
        parts = []
        for o, (x, m) in enumerate(zip(self.X, point.active, strict=True)):
            # The output at x changes by Σ_h m_h change_h · x.
            change = point.second[:, o, :, None] * first
            if self.readouts_move:
                change.addcmul_(second[:, o, :, None], point.first)
            parts.append(_product(m, change).mul_(x).sum(2))
        return torch.cat(parts, 1)

    def kernel(self, point: Point, factors: torch.Tensor) -> torch.Tensor:
        """diag(factors) J Jᵀ diag(factors) (R, N, N) for factors (R, N), in single precision. Only the lower triangle
        is valid, and the next call overwrites the array."""
        networks, samples = factors.shape
        if self._room.shape[:2] != factors.shape:  # new memory would cost as much as the kernel
            self._room = torch.zeros(networks, samples, samples, device=factors.device)
        most = max(1, _FEATURES[factors.device.type] // (samples * point.first.shape[1]))
        for place in range(0, networks, most):
            runs = slice(place, place + most)
            self._fill(self._room[runs], point, factors[runs], runs)
        return self._room

    def _fill(self, kernels: torch.Tensor, point: Point, factors: torch.Tensor, runs: slice) -> None:
        """Write the kernels (A Aᵀ) ∘ (X Xᵀ) − C Cᵀ + B Bᵀ of the slice `runs` into the lower triangles of `kernels`.

        A = m diag(a), for the activation pattern m and the readout a of each output; X and B are inputs and hidden
        responses times `factors` (R, N). B Bᵀ is added for pairs of samples of one output, if readouts move, and
        C = B diag(a/|w|) exists only if input weights stay on spheres.
        """

        def join(outputs: Iterable[torch.Tensor]) -> torch.Tensor:
            parts = list(outputs)
            return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

        readouts, scale = point.second[runs].float().split(1, 1), factors.float()[:, :, None]
        A = join(m[runs].float().mul_(a) for m, a in zip(point.active, readouts, strict=True))  # (R, N, H)
        X = join(x[runs].float() for x in self.X).mul(scale)  # (R, N, D)
        B = join(r[runs].float() for r in point.responses).mul_(scale)  # (R, N, H)
        C = None
        if self.lengths is not None:
            lengths = self.lengths[runs].mT.float()
            C = join(r * (a / lengths) for r, a in zip(B.split(self.rows, 1), readouts, strict=True))
        blocks = slices(self.rows)
        if kernels.device.type != "cpu":
            torch.bmm(A, A.mT, out=kernels)
            kernels *= X @ X.mT
            if C is not None:
                kernels.baddbmm_(C, C.mT, alpha=-1)
            for own in blocks if self.readouts_move else []:
                kernels[:, own, own].baddbmm_(B[:, own], B[:, own].mT)
            return
        # One network at a time, in place, by symmetric products of SciPy's library: what is multiplied stays in the
        # cache, and they take a quarter of the time of PyTorch's. A transpose is an array in Fortran's order.
        for run, kernel in enumerate(kernels.numpy()):
            ssyrk(1.0, A[run].numpy().T, trans=1, c=kernel.T, overwrite_c=1)
            kernel *= ssyrk(1.0, X[run].numpy().T, trans=1).T  # 0 in the other triangle
            if C is not None:
                ssyrk(-1.0, C[run].numpy().T, trans=1, beta=1.0, c=kernel.T, overwrite_c=1)
            if self.readouts_move and len(blocks) == 1:
                ssyrk(1.0, B[run].numpy().T, trans=1, beta=1.0, c=kernel.T, overwrite_c=1)
            elif self.readouts_move:
                for own in blocks:
                    kernel.T[own, own] += ssyrk(1.0, B[run, own].numpy().T, trans=1)

    def solver(self, point: Point, scale: torch.Tensor) -> tuple[Callable[[Vector], Vector], torch.Tensor]:
        """Solves (I + s JᵀDJ) u = v, which a step of the flow of length proportional to s (R,) asks for, D = ∂²L/∂f²:
        the function that gives u of v, and the mask (R,) of runs where it does.

        By Woodbury u = v − √s Jᵀ√D (I + s √D K √D)⁻¹ √s √D J v, with the tangent kernel K of the size of all samples N:
        a Cholesky factor in single precision costs N²H + N³/6 multiplications and 8 N² bytes, once a step.
        """
        root = (self.curvature(point) * scale[:, None]).sqrt()
        matrix = self.kernel(point, root)
        matrix.diagonal(dim1=1, dim2=2).add_(1.0)
        inner = Cholesky(matrix)

        def solve(vector: Vector) -> Vector:
            """The solution u of (I + s JᵀDJ) u = v."""
            # Late in training v lies along directions in which outputs hardly change, and J v is small by cancellation:
            # with products in single precision late steps would all be rejected.
            right = (self.times(point, vector) * root).float()
            samples = inner.solve(right).double() * root
            first, second = self.apply_transpose(point, samples.split(self.rows, 1))
            return vector[0] - first, vector[1] - second

        return solve, inner.done

    def _along(self, point: Point, first: torch.Tensor) -> torch.Tensor:
        """The part of a change of input weights that leaves their length, where they keep it."""
        if self.lengths is None:
            return first
        unit = point.first / self.lengths
        return first - unit * (unit * first).sum(2, keepdim=True)


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a @ b of networks; on the processor by NumPy's library, which takes two thirds of the time for narrow ones."""
    return torch.from_numpy(np.matmul(a.numpy(), b.numpy())) if a.device.type == "cpu" else a @ b
