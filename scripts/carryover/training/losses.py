"""Loss functions of a network's output f on a target y, and the test errors and norms of linear networks.

Losses come with their negative gradient −∂loss/∂f, which training follows, and their curvature ∂²loss/∂f². Test errors
and norms take the coefficients of one output, (..., D), and test errors also the teacher's, (..., D); all return (...).
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch


class Squared:
    """(f − y)², for real targets y. A loss is three elementwise functions of tensors of one shape."""

    def value(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (f - y).square()

    def negative_gradient(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return 2 * (y - f)

    def curvature(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.full_like(f, 2.0)


class CrossEntropy:
    """Binary cross-entropy log(1 + e^{−y f}), for labels y = ±1: minus the log of the label's probability.

    Its minimum, 0, lies at infinite margin y f. Value and gradient keep their relative precision for margins of either
    sign up to some 700, beyond which they are 0 or linear in f.
    """

    def value(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # Not softplus, which replaces what lies beyond a threshold by an asymptote.
        return torch.logaddexp(torch.zeros_like(f), -y * f)

    def negative_gradient(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return y * torch.sigmoid(-y * f)

    def curvature(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(f) * torch.sigmoid(-f)


LOSSES: Mapping[str, Squared | CrossEntropy] = {"squared": Squared(), "cross_entropy": CrossEntropy()}


def squared_distance(beta: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """‖β − β*‖²: the expected squared error, since inputs uniform on the sphere of radius √D have covariance I."""
    return (beta - teacher).square().sum(-1)


def misclassification_rate(beta: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Share of inputs uniform on a sphere for which sign(β·x) ≠ sign(β*·x): the angle between β and β* over π.

    1/2 where β = 0, which can only guess.
    """
    tiny = torch.finfo(beta.dtype).tiny
    u, v = (b / torch.linalg.vector_norm(b, dim=-1, keepdim=True).clamp_min(tiny) for b in (beta, teacher))
    # arccos(u·v) would lose angles below 1e-8. For β = 0 these are the lengths of v twice.
    halved = torch.atan2(torch.linalg.vector_norm(u - v, dim=-1), torch.linalg.vector_norm(u + v, dim=-1))
    return 2 / math.pi * halved


def effective_features(beta: torch.Tensor) -> torch.Tensor:
    """(Σ|β|)²/Σβ², between 1 and D: k for k coefficients of one size. NaN where β = 0."""
    return beta.abs().sum(-1).square() / beta.square().sum(-1)


def group_norm(betas: torch.Tensor) -> torch.Tensor:
    """ℓ1,2 norm Σ_d √(Σ_o β_od²) of the coefficients of outputs, (..., O, D) -> (...); of a single one its ℓ1 norm."""
    return torch.linalg.vector_norm(betas, dim=-2).sum(-1)


RISKS = {"squared": squared_distance, "cross_entropy": misclassification_rate}
"""Test error by the name of the loss that was minimised."""
