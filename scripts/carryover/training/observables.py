"""What is watched of linear networks along training: how far they are from their teachers, on how many inputs they lie.

Each takes the coefficients of one output, (..., D), and the teacher's, (..., D), and returns (...): torch tensors.
"""

from __future__ import annotations

import math

import torch


def squared_distance(beta: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """‖β − β*‖²: the expected squared error, since inputs uniform on the sphere of radius √D have covariance I."""
    return (beta - teacher).square().sum(-1)


def misclassified(beta: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Share of inputs uniform on a sphere for which sign(β·x) ≠ sign(β*·x): the angle between β and β* over π.

    1/2 where β = 0, which can only guess.
    """
    sizes = [torch.linalg.vector_norm(b, dim=-1, keepdim=True) for b in (beta, teacher)]
    u, v = beta / sizes[0], teacher / sizes[1]
    # arccos(u·v) would lose angles below 1e-8.
    halved = torch.atan2(torch.linalg.vector_norm(u - v, dim=-1), torch.linalg.vector_norm(u + v, dim=-1))
    return torch.where(sizes[0][..., 0] > 0, 2 / math.pi * halved, 0.5)


def effective_features(beta: torch.Tensor, teacher: torch.Tensor | None = None) -> torch.Tensor:
    """(Σ|β|)²/Σβ², between 1 and D: k for k coefficients of one size. NaN where β = 0. Needs no teacher."""
    return beta.abs().sum(-1).square() / beta.square().sum(-1)


def l1_norm(beta: torch.Tensor, teacher: torch.Tensor | None = None) -> torch.Tensor:
    """‖β‖₁. Needs no teacher."""
    return beta.abs().sum(-1)


def group_norm(betas: torch.Tensor) -> torch.Tensor:
    """ℓ1,2 norm Σ_d √(Σ_o β_od²) of several outputs' coefficients, (..., O, D) -> (...)."""
    return torch.linalg.vector_norm(betas, dim=-2).sum(-1)


RISKS = {"squared": squared_distance, "cross_entropy": misclassified}
"""Test error by the name of the loss that was minimised."""
