"""Diagonal linear networks f(x) = β·x with β_{o,d} = w2₊_{o,d} w1₊_d − w2₋_{o,d} w1₋_d.

With one output, gradient flow on any loss of β multiplies s = (w1 + w2)/2 and d = (w1 − w2)/2 of each path by e^{±z/2},
so all it can reach is a curve in one number z per dimension ("feature reuse in multi-task learning and finetuning
(appendix)", eqs 10–17, for weights that need not be symmetric):

    β = A e^z − B e^{−z},    A = s₊² + d₋²,    B = s₋² + d₊².
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Weights:
    """The four weight arrays: `first_*` (..., D) and `second_*` (..., O, D)."""

    first_plus: np.ndarray
    first_minus: np.ndarray
    second_plus: np.ndarray
    second_minus: np.ndarray

    def __getitem__(self, index: Any) -> Weights:
        """The networks at these places of the leading axis."""
        return Weights(*(getattr(self, field.name)[index] for field in fields(self)))

    def coefficients(self) -> np.ndarray:
        """β, shape (..., O, D): what the network computes (eq 25 of the appendix)."""
        plus = self.second_plus * self.first_plus[..., None, :]
        return plus - self.second_minus * self.first_minus[..., None, :]


def rates(
    w1_plus: np.ndarray, w2_plus: np.ndarray, w1_minus: np.ndarray, w2_minus: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A = s₊² + d₋² and B = s₋² + d₊² of one output, in the weights' own (broadcast) shape.

    "Feature reuse in multi-task learning and finetuning (appendix)", eqs 13–17 without the assumption w₊ = w₋.
    """
    A = ((w1_plus + w2_plus) ** 2 + (w1_minus - w2_minus) ** 2) / 4
    B = ((w1_minus + w2_minus) ** 2 + (w1_plus - w2_plus) ** 2) / 4
    return A, B


def weights_at(
    beta: np.ndarray, w1_plus: np.ndarray, w2_plus: np.ndarray, w1_minus: np.ndarray, w2_minus: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The weights (w1₊, w2₊, w1₋, w2₋) that gradient flow of one output passes when its product is `beta`.

    All arguments broadcast to one shape (..., D). Solves β = A e^z − B e^{−z} for z and moves s₊, d₋ by e^{z/2} and
    s₋, d₊ by e^{−z/2} (eqs 13–17), so w1² − w2² stays what it was. Dimensions whose weights are all zero stay there.
    Raises ValueError where the flow cannot reach `beta`.
    """
    beta, A, B = np.broadcast_arrays(beta, *rates(w1_plus, w2_plus, w1_minus, w2_minus))
    reachable = np.where(A > 0, (B > 0) | (beta > 0), np.where(B > 0, beta < 0, beta == 0))
    if not reachable.all():
        raise ValueError("beta must be reachable: weights with A = 0 or B = 0 cannot take either sign of beta")
    # Each product is formed so that neither a tiny AB nor a large β/√(AB) is lost: √(β² + 4AB) + |β| never cancels.
    root = np.hypot(beta, 2 * np.sqrt(A) * np.sqrt(B)) + np.abs(beta)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(beta >= 0, np.log(root / (2 * A)), -np.log(root / (2 * B)))
    z = np.where((A == 0) & (B == 0), 0.0, z)
    up, down = np.exp(z / 2), np.exp(-z / 2)
    s_plus, d_plus = (w1_plus + w2_plus) / 2 * up, (w1_plus - w2_plus) / 2 * down
    s_minus, d_minus = (w1_minus + w2_minus) / 2 * down, (w1_minus - w2_minus) / 2 * up
    return s_plus + d_plus, s_plus - d_plus, s_minus + d_minus, s_minus - d_minus
