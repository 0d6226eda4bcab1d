"""Tangent features of shallow ReLU networks, whole ensembles at once: gradients, their products and their kernel.

With the activation pattern m_ih = 1[w_h · x_i > 0] the Jacobian of the outputs f_o(x_i) = Σ_h a_oh relu(w_h · x_i) is

    ∂f_o(x_i)/∂w_h = a_oh m_ih x_i,   ∂f_o(x_i)/∂a_oh = relu(w_h · x_i),

and its kernel over the samples of all outputs K = J Jᵀ = (X Xᵀ) ∘ (m diag(a_o a_p) mᵀ) + δ_op relu reluᵀ. Units that
stay on a sphere move along its tangent alone, which takes relu diag(a_o a_p / |w|²) reluᵀ off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from carryover.networks.relu import Weights
from carryover.training.losses import LOSSES

Vector = tuple[torch.Tensor, torch.Tensor]  # of the weights' space: first (R, H, D), second (R, O, H)


class Point:
    """Where an ensemble stands: weights, hidden responses (R, n_o, H), outputs (R, n_o), loss (R,), −∂L/∂f (R, n_o)."""

    def __init__(
        self, first: torch.Tensor, second: torch.Tensor, responses: list[torch.Tensor], outputs: list[torch.Tensor],
        loss: torch.Tensor, negative_gradients: list[torch.Tensor],
    ) -> None:  # fmt: skip
        self.first, self.second, self.responses, self.outputs = first, second, responses, outputs
        self.loss, self.negative_gradients = loss, negative_gradients

    def where(self, mask: torch.Tensor, other: Point) -> Point:
        """This point for the runs of the mask (R,), the other for the rest."""
        column, block = mask[:, None], mask[:, None, None]
        return Point(
            torch.where(block, self.first, other.first),
            torch.where(block, self.second, other.second),
            [torch.where(block, a, b) for a, b in zip(self.responses, other.responses, strict=True)],
            [torch.where(column, a, b) for a, b in zip(self.outputs, other.outputs, strict=True)],
            torch.where(mask, self.loss, other.loss),
            [torch.where(column, a, b) for a, b in zip(self.negative_gradients, other.negative_gradients, strict=True)],
        )

    def __getitem__(self, which: torch.Tensor) -> Point:
        """The runs of a boolean mask."""
        lists = ([one[which] for one in many] for many in (self.responses, self.outputs, self.negative_gradients))
        responses, outputs, gradients = lists
        return Point(self.first[which], self.second[which], responses, outputs, self.loss[which], gradients)


class Tangent:
    """The data of an ensemble, and its tangent features at any weights. Numbers are in double precision, the kernel in
    single, which whoever solves with it has to bear."""

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
        self._products = [[(a @ b.transpose(1, 2)).float() for b in self.X] for a in self.X]

    def keep(self, which: torch.Tensor) -> None:
        """Drop the runs that are not in the boolean mask."""
        self.X, self.y = [x[which] for x in self.X], [t[which] for t in self.y]
        self._products = [[product[which] for product in row] for row in self._products]
        self.lengths = None if self.lengths is None else self.lengths[which]

    def at(self, first: torch.Tensor, second: torch.Tensor) -> Point:
        """The point at these weights, brought back to their sphere where they have one."""
        if self.lengths is not None:
            first = first * (self.lengths / first.norm(dim=2, keepdim=True))
        responses = [(x @ first.transpose(1, 2)).relu_() for x in self.X]
        outputs = [(r @ second[:, o, :, None])[:, :, 0] for o, r in enumerate(responses)]
        pairs = list(zip(outputs, self.y, strict=True))
        loss = torch.stack([self.loss.value(f, y).mean(1) for f, y in pairs]).sum(0)
        gradients = [self.loss.negative_gradient(f, y) / y.shape[1] for f, y in pairs]
        return Point(first, second, responses, outputs, loss, gradients)

    def curvature(self, point: Point) -> torch.Tensor:
        """∂²L/∂f², (R, N) over the samples of all outputs."""
        if self.loss_name == "squared":
            return torch.cat([torch.full_like(y, 2 / y.shape[1]) for y in self.y], 1)
        pairs = zip(point.outputs, self.y, strict=True)
        return torch.cat([torch.sigmoid(f) * torch.sigmoid(-f) / y.shape[1] for f, y in pairs], 1)

    def transposed(self, point: Point, samples: Sequence[torch.Tensor]) -> Vector:
        """Jᵀ v for values v[o] (R, n_o) of the samples."""
        first, second = torch.zeros_like(point.first), torch.zeros_like(point.second)
        for o, (x, r, v) in enumerate(zip(self.X, point.responses, samples, strict=True)):
            first += point.second[:, o, :, None] * (((r > 0) * v[:, :, None]).transpose(1, 2) @ x)
            if self.readouts_move:
                second[:, o] = (v[:, None] @ r)[:, 0]
        return self._along(point, first), second

    def times(self, point: Point, vector: Vector) -> torch.Tensor:
        """J v, (R, N), for a vector of the weights' space."""
        first, second = self._along(point, vector[0]), vector[1]
        parts = []
        for o, (x, r) in enumerate(zip(self.X, point.responses, strict=True)):
            change = ((x @ (first * point.second[:, o, :, None]).transpose(1, 2)) * (r > 0)).sum(2)
            parts.append(change + (r @ second[:, o, :, None])[:, :, 0] if self.readouts_move else change)
        return torch.cat(parts, 1)

    def kernel(self, point: Point) -> torch.Tensor:
        """K = J Jᵀ, (R, N, N), in single precision."""
        responses = [r.float() for r in point.responses]
        active = [(r > 0).float() for r in responses]
        second = point.second.float()
        rows: list[torch.Tensor] = []
        for o, p in ((o, p) for o in range(len(responses)) for p in range(len(responses))):
            if p < o:
                block = rows[p * len(responses) + o].transpose(1, 2)
            else:
                readouts = second[:, o] * second[:, p]
                block = self._products[o][p] * ((active[o] * readouts[:, None]) @ active[p].transpose(1, 2))
                shared = torch.full_like(readouts, float(o == p and self.readouts_move))
                if self.lengths is not None:
                    shared = shared - readouts / self.lengths[:, :, 0].float().square()
                if self.lengths is not None or (o == p and self.readouts_move):
                    block += (responses[o] * shared[:, None]) @ responses[p].transpose(1, 2)
            rows.append(block)
        outputs = len(responses)
        return torch.cat([torch.cat(rows[o * outputs : (o + 1) * outputs], 2) for o in range(outputs)], 1)

    def _along(self, point: Point, first: torch.Tensor) -> torch.Tensor:
        """The part of a change of input weights that leaves their length, where they keep it."""
        if self.lengths is None:
            return first
        unit = point.first / self.lengths
        return first - unit * (unit * first).sum(2, keepdim=True)


def of_runs(start: Weights, runs: np.ndarray, device: torch.device) -> Vector:
    """Weights of some runs on a device, in double precision."""
    first, second = (torch.as_tensor(layer[runs], dtype=torch.float64, device=device)
                     for layer in (start.first, start.second))  # fmt: skip
    return first, second
