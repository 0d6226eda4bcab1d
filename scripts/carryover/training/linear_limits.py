"""Where training of deep linear networks ends, without training them: limits of gradient flow on |Xβ − y|²/(2n).

Data are `Factored`, targets t = Uᵀy (..., k), and coefficients (..., d); leading axes broadcast. All is float64.
"""

from __future__ import annotations

import numpy as np

from carryover.theory.transfer import norm_factor
from carryover.training.factored import Factored

NEGLIGIBLE = 1e-200
"""Strength of weight decay that is none: products with it would underflow."""


def minimum_norm(data: Factored, targets: np.ndarray) -> np.ndarray:
    """X⁺y, where networks from vanishing weights end ("Features are fate", theorem 3.5); least squares for n > d."""
    return (np.asarray(targets) / data.values) @ data.directions


def finetuned(data: Factored, targets: np.ndarray, start: np.ndarray, depth: int) -> np.ndarray:
    """Where balanced networks of coefficients `start` (..., d) end: X⁺y + (|β|/|β₀|)^{(L−1)/L} P⊥β₀.

    "Finetuning with linear teachers", equation 5, for labels of any kind. "Features are fate" takes the factor to be 1
    (equation 139), which is the limit of depth L = 1. Raises ValueError for a start of zero or a depth below 1.
    """
    start = np.asarray(start, dtype=np.float64)
    norm = np.linalg.norm(start, axis=-1)
    if not (norm > 0).all():
        raise ValueError("finetuning must start from coefficients that are not zero: gradient flow does not leave them")
    fitted = minimum_norm(data, targets)
    outside = start - (start @ data.directions.T) @ data.directions
    inside_power, outside_power = ((part**2).sum(-1) / norm**2 for part in (fitted, outside))
    return fitted + norm_factor(inside_power, outside_power, depth)[..., None] * outside


def on_features(
    data: Factored, targets: np.ndarray, features: np.ndarray, ridge: float | np.ndarray = 0.0
) -> np.ndarray:
    """The readout alone is fitted: Φw with w the minimiser of |XΦw − y|²/(2n) + ridge |w|²/2 (equations 9, 12, 118).

    `features` are Φ (d, r), of full column rank r ≤ n, and the ridge (...) is not negative.
    """
    left, values, right = np.linalg.svd((data.values[:, None] * data.directions) @ features, full_matrices=False)
    strength = data.samples * np.asarray(ridge, dtype=np.float64)[..., None]
    readout = (np.asarray(targets) @ left) * values / (values**2 + strength) @ right
    return readout @ np.asarray(features).T


def weight_decayed(data: Factored, targets: np.ndarray, strength: float | np.ndarray) -> np.ndarray:
    """Where networks of two layers end under weight decay, the penalty strength/2 Σ|W_l|².

    Among networks of one β the penalty is least where they are balanced, strength |β|, so β minimises
    |Xβ − y|²/(2n) + strength |β|: a norm and not its square. β = 0 where |Xᵀy|/n ≤ strength; else it is the ridge
    solution of the strength μ at which μ|β(μ)| = strength, the one root of a function that rises with μ. Strengths
    (...) broadcast with the targets. Raises ValueError for negative ones.
    """
    strength = np.asarray(strength, dtype=np.float64)
    if (strength < 0).any():
        raise ValueError("the strength of weight decay must not be negative")
    targets = np.asarray(targets, dtype=np.float64)
    # of XᵀX/n, and Xᵀy/n, the negative gradient at β = 0
    values, gradient = data.values**2 / data.samples, data.values * targets / data.samples
    lead = np.broadcast_shapes(strength.shape, targets.shape[:-1])
    strength, gradient = np.broadcast_to(strength, lead).ravel(), np.broadcast_to(gradient, (*lead, len(values)))
    gradient = gradient.reshape(-1, len(values))
    least = np.linalg.norm(gradient, axis=1)
    decayed = np.flatnonzero((strength > NEGLIGIBLE) & (strength < least))
    ridge = np.where(strength < least, 0.0, np.inf)
    if len(decayed):
        ridge[decayed] = _ridge_of_norm(values, gradient[decayed], strength[decayed], least[decayed])
    with np.errstate(invalid="ignore"):
        components = gradient / (values + ridge[:, None])
    return components.reshape(*lead, -1) @ data.directions


def _ridge_of_norm(values: np.ndarray, gradient: np.ndarray, strength: np.ndarray, least: np.ndarray) -> np.ndarray:
    """μ with μ|gradient/(values + μ)| = strength < least = |gradient|, (R,)."""
    from scipy.optimize import elementwise  # it takes longer to import than the limits without weight decay take

    def missing(log_ridge: np.ndarray, row: np.ndarray) -> np.ndarray:
        ridge = np.exp(log_ridge)[..., None]
        norm = np.linalg.norm(gradient[row.astype(int)] / (values + ridge), axis=-1)
        return np.log(norm) + log_ridge - np.log(strength[row.astype(int)])

    # least/(largest value + μ) ≤ |β(μ)| ≤ least/(smallest value + μ) bound μ from both sides
    low, high = (np.log(strength * value / (least - strength)) for value in (values[-1], values[0]))
    margin = 1e-6 + 1e-9 * np.abs(low)
    root = elementwise.find_root(missing, (low - margin, high + margin), args=(np.arange(len(strength)),))
    return np.exp(root.x)
