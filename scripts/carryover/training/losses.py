"""Loss functions of a network's output f on a target y, with the negative gradient −∂loss/∂f that training follows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch


class Loss(Protocol):
    """Elementwise functions of tensors of one shape."""

    def value(self, f: torch.Tensor, y: torch.Tensor, /) -> torch.Tensor: ...

    def negative_gradient(self, f: torch.Tensor, y: torch.Tensor, /) -> torch.Tensor: ...


class Squared:
    """(f − y)², for real targets y."""

    def value(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (f - y).square()

    def negative_gradient(self, f: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return 2 * (y - f)


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


LOSSES: Mapping[str, Loss] = {"squared": Squared(), "cross_entropy": CrossEntropy()}
