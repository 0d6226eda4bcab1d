"""Tangent features of shallow ReLU networks, whole ensembles at once: gradients, their products and their kernel.

With the activation pattern m_ih = 1[w_h · x_i > 0] the Jacobian of the outputs f_o(x_i) = Σ_h a_oh relu(w_h · x_i) is

    ∂f_o(x_i)/∂w_h = a_oh m_ih x_i,   ∂f_o(x_i)/∂a_oh = relu(w_h · x_i) = m_ih w_h · x_i,

and its kernel over the samples of all outputs K = J Jᵀ = (X Xᵀ) ∘ (m diag(a_o a_p) mᵀ) + δ_op relu reluᵀ. Units that
stay on a sphere move along its tangent alone, which takes relu diag(a_o a_p / |w|²) reluᵀ off. As units are
homogeneous, products with J and Jᵀ are one matrix product with m each, and no pass over the hidden responses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from scipy.linalg.blas import ssyrk

from carryover.networks.relu import Weights
from carryover.training.losses import LOSSES

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

        def chosen(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
            return torch.where(mask.view(-1, *[1] * (one.dim() - 1)), one, two)

        return Point(*(_each(chosen, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)))

    def __getitem__(self, which: torch.Tensor) -> Point:
        """The runs of a boolean mask."""
        return Point(*(_each(lambda one: one[which], getattr(self, f.name)) for f in fields(self)))

    def single(self) -> Point:
        """The same in single precision."""
        return Point(*(_each(torch.Tensor.float, getattr(self, f.name)) for f in fields(self)))


def _each(function: Callable, *values: Any) -> Any:
    """The function of tensors, or of each in lists of them."""
    return [function(*one) for one in zip(*values, strict=True)] if isinstance(values[0], list) else function(*values)


class Tangent:
    """The data of an ensemble, and its tangent features at any weights, in double precision but for the kernel."""

    def __init__(
        self, X: Sequence[np.ndarray], y: Sequence[np.ndarray], loss: str, device: torch.device,
        trainable: tuple[str, ...], lengths: torch.Tensor | None = None,
    ) -> None:  # fmt: skip
        """X[o]: (R, n_o, D), y[o]: (R, n_o); `lengths` (R, H, 1) of the input weights of units that keep them."""
        self.X = [torch.as_tensor(x, dtype=torch.float64, device=device) for x in X]
        self.y = [torch.as_tensor(t, dtype=torch.float64, device=device) for t in y]
        self.loss, self.loss_name, self.lengths = LOSSES[loss], loss, lengths
        self.readouts_move = "second" in trainable
        self.rows = [x.shape[1] for x in self.X]

    def keep(self, which: torch.Tensor) -> None:
        """Drop the runs that are not in the boolean mask."""
        self.X, self.y = [x[which] for x in self.X], [t[which] for t in self.y]
        self.lengths = None if self.lengths is None else self.lengths[which]

    def single(self) -> Tangent:
        """The same in single precision, for products."""
        other = copy(self)
        other.X = [x.float() for x in self.X]
        other.lengths = None if self.lengths is None else self.lengths.float()
        return other

    def at(self, first: torch.Tensor, second: torch.Tensor) -> Point:
        """The point at these weights, brought back to their sphere where they have one."""
        if self.lengths is not None:
            first = first * (self.lengths / first.norm(dim=2, keepdim=True))
        responses = [(x @ first.transpose(1, 2)).relu_() for x in self.X]
        outputs = [(r @ second[:, o, :, None])[:, :, 0] for o, r in enumerate(responses)]
        pairs = list(zip(outputs, self.y, strict=True))
        loss = torch.stack([self.loss.value(f, y).mean(1) for f, y in pairs]).sum(0)
        gradients = [self.loss.negative_gradient(f, y) / y.shape[1] for f, y in pairs]
        active = [r.sign() for r in responses]
        return Point(first, second, responses, active, outputs, loss, gradients)

    def curvature(self, point: Point) -> torch.Tensor:
        """∂²L/∂f², (R, N) over the samples of all outputs."""
        if self.loss_name == "squared":
            return torch.cat([torch.full_like(y, 2 / y.shape[1]) for y in self.y], 1)
        pairs = zip(point.outputs, self.y, strict=True)
        return torch.cat([torch.sigmoid(f) * torch.sigmoid(-f) / y.shape[1] for f, y in pairs], 1)

    def transposed(self, point: Point, samples: Sequence[torch.Tensor]) -> Vector:
        """Jᵀ v for values v[o] (R, n_o) of the samples."""
        first, second = torch.zeros_like(point.first), torch.zeros_like(point.second)
        for o, (x, m, v) in enumerate(zip(self.X, point.active, samples, strict=True)):
            total = m.transpose(1, 2) @ (x * v[:, :, None])
            first.addcmul_(point.second[:, o, :, None], total)
            if self.readouts_move:
                second[:, o] = (point.first * total).sum(2)
        return self._along(point, first), second

    def times(self, point: Point, vector: Vector) -> torch.Tensor:
        """J v, (R, N), for a vector of the weights' space."""
        first, second = self._along(point, vector[0]), vector[1]
        parts = []
        for o, (x, m) in enumerate(zip(self.X, point.active, strict=True)):
            change = point.second[:, o, :, None] * first
            if self.readouts_move:
                change.addcmul_(second[:, o, :, None], point.first)
            parts.append((m @ change).mul_(x).sum(2))
        return torch.cat(parts, 1)

    def kernel(self, point: Point, factors: torch.Tensor) -> torch.Tensor:
        """diag(factors) J Jᵀ diag(factors), (R, N, N), for factors (R, N), in single precision: its lower triangle, the
        rest is not to be read."""
        scale = [one.float()[:, :, None] for one in factors.split(self.rows, 1)]
        readouts = point.second.float().unbind(1)
        responses = [r.float().mul_(s) for r, s in zip(point.responses, scale, strict=True)]
        active = [m.float().mul_(s).mul_(a[:, None]) for m, s, a in zip(point.active, scale, readouts, strict=True)]
        inputs, across = torch.cat([x.float() for x in self.X], 1), None
        if self.lengths is not None:
            ratios = [(a / self.lengths[:, :, 0].float())[:, None] for a in readouts]
            across = torch.cat([r * ratio for r, ratio in zip(responses, ratios, strict=True)], 1)
        own = responses if self.readouts_move else []
        product = _products_one_by_one if factors.device.type == "cpu" else _products
        return product(torch.cat(active, 1), inputs, across, own)

    def _along(self, point: Point, first: torch.Tensor) -> torch.Tensor:
        """The part of a change of input weights that leaves their length, where they keep it."""
        if self.lengths is None:
            return first
        unit = point.first / self.lengths
        return first - unit * (unit * first).sum(2, keepdim=True)


def _products(
    active: torch.Tensor, inputs: torch.Tensor, across: torch.Tensor | None, own: Sequence[torch.Tensor]
) -> torch.Tensor:
    """(A Aᵀ) ∘ (X Xᵀ) − C Cᵀ, and B_o B_oᵀ on the block of each output o in `own`; features (R, N, ·)."""
    kernel = active @ active.mT
    kernel *= inputs @ inputs.mT
    if across is not None:
        kernel.baddbmm_(across, across.mT, alpha=-1)
    for rows, responses in _blocks(own):
        kernel[:, rows, rows].baddbmm_(responses, responses.mT)
    return kernel


def _products_one_by_one(
    active: torch.Tensor, inputs: torch.Tensor, across: torch.Tensor | None, own: Sequence[torch.Tensor]
) -> torch.Tensor:
    """The same, but the lower triangle alone: symmetric products, of a network whose kernel stays in the cache, take a
    quarter of the time of PyTorch's."""
    kernels = active.new_zeros(*active.shape[:2], active.shape[1])
    for run, kernel in enumerate(kernels.numpy()):
        kernel = kernel.T  # in Fortran's order: its upper triangle is filled, in place
        ssyrk(1.0, active[run].numpy().T, trans=1, c=kernel, overwrite_c=1)
        kernel *= ssyrk(1.0, inputs[run].numpy().T, trans=1)
        if across is not None:
            ssyrk(-1.0, across[run].numpy().T, trans=1, beta=1.0, c=kernel, overwrite_c=1)
        for rows, responses in _blocks(own):
            if len(own) == 1:
                ssyrk(1.0, responses[run].numpy().T, trans=1, beta=1.0, c=kernel, overwrite_c=1)
            else:
                kernel[rows, rows] += ssyrk(1.0, responses[run].numpy().T, trans=1)
    return kernels


def _blocks(own: Sequence[torch.Tensor]) -> list[tuple[slice, torch.Tensor]]:
    """Responses (R, n_o, H) of outputs, with their rows among all samples."""
    ends = np.cumsum([responses.shape[1] for responses in own])
    return [(slice(end - one.shape[1], end), one) for end, one in zip(ends.tolist(), own, strict=True)]


def of_runs(start: Weights, runs: np.ndarray, device: torch.device) -> Vector:
    """Weights of some runs on a device, in double precision."""
    first, second = (torch.as_tensor(layer[runs], dtype=torch.float64, device=device)
                     for layer in (start.first, start.second))  # fmt: skip
    return first, second
