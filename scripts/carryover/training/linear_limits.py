"""Limits of gradient flow of deep linear networks on |Xβ − y|²/(2n), without training.

With the thin singular value decomposition X = U diag(s) V of the data (`Factored`), the loss of coefficients β is, up
to a constant, Σ_i (s_i b_i − t_i)²/(2n), where b = Vβ and t = Uᵀy. A gradient in β has components along V alone.
Targets are t (runs, k) and coefficients (runs, d). All is float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from carryover.theory.linear_teachers import balanced_limit

NEGLIGIBLE = 1e-200
"""Strength of weight decay that is none: products with it would underflow."""


@dataclass(frozen=True)
class Factored:
    """X (n, d) as U diag(s) V, of rank k ≤ min(n, d)."""

    left: np.ndarray  # U (n, k), orthonormal columns
    values: np.ndarray  # s (k,), positive, falling
    directions: np.ndarray  # V (k, d), an orthonormal basis of the row space of X
    samples: int  # n, by which the loss is divided

    @classmethod
    def of(cls, X: np.ndarray) -> Factored:
        """The factors of X (n, d), not all 0; directions that rounding alone tells from zero are left out."""
        left, values, directions = np.linalg.svd(np.asarray(X, dtype=np.float64), full_matrices=False)
        rank = int((values > max(X.shape) * np.finfo(float).eps * values[0]).sum())
        return cls(left[:, :rank], values[:rank], directions[:rank], len(X))

    @classmethod
    def population(cls, eigenvalues: np.ndarray) -> Factored:
        """Endlessly many inputs whose covariance has these eigenvalues (d,) along the axes, positive.

        The loss is (β − β*)ᵀΣ(β − β*)/2 for targets y = Σ^{1/2}β*.
        """
        identity = np.eye(len(eigenvalues))
        return cls(identity, np.sqrt(eigenvalues), identity, 1)

    def targets(self, y: np.ndarray) -> np.ndarray:
        """t = Uᵀy, (runs, k), of targets y (runs, n)."""
        return np.asarray(y, dtype=np.float64) @ self.left


def finetuned(data: Factored, targets: np.ndarray, start: np.ndarray, depth: int) -> np.ndarray:
    """Where balanced networks of coefficients `start` (runs, d) end: `balanced_limit`."""
    start = np.asarray(start, dtype=np.float64)
    fitted = (np.asarray(targets) / data.values) @ data.directions
    return balanced_limit(fitted, start, start - (start @ data.directions.T) @ data.directions, depth)


def on_features(data: Factored, targets: np.ndarray, features: np.ndarray, ridge: np.ndarray) -> np.ndarray:
    """The readout alone is fitted: Φw with w the minimiser of |XΦw − y|²/(2n) + ridge |w|²/2 (equations 9, 12, 118).

    `features` are Φ (d, r), of full column rank r ≤ n, and the ridge (runs,) is not negative.
    """
    left, values, right = np.linalg.svd((data.values[:, None] * data.directions) @ features, full_matrices=False)
    readout = (targets @ left) * values / (values**2 + data.samples * ridge[:, None]) @ right
    return readout @ features.T


def weight_decayed(data: Factored, targets: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Where networks of two layers end under weight decay, the penalty strength/2 Σ|W_l|² with strengths (runs,).

    Among networks of one β the penalty is least where they are balanced, strength |β|, so β minimises
    |Xβ − y|²/(2n) + strength |β|: a norm and not its square. β = 0 where |Xᵀy|/n ≤ strength; else it is the ridge
    solution of the strength μ at which μ|β(μ)| = strength, the one root of a function that rises with μ. For
    strength 0 it is X⁺y, where networks of any depth from vanishing weights end ("Features are fate", theorem 3.5).
    """
    # of XᵀX/n, and Xᵀy/n, the negative gradient at β = 0
    values, gradient = data.values**2 / data.samples, data.values * targets / data.samples
    least = np.linalg.norm(gradient, axis=1)

    def missing(log_ridge: np.ndarray, run: np.ndarray) -> np.ndarray:
        norm = np.linalg.norm(gradient[run.astype(int)] / (values + np.exp(log_ridge)[..., None]), axis=-1)
        return np.log(norm) + log_ridge - np.log(strength[run.astype(int)])

    ridge = np.where(strength < least, 0.0, np.inf)
    decayed = np.flatnonzero((strength > NEGLIGIBLE) & (strength < least))
    if len(decayed):
        from scipy.optimize import elementwise  # it takes longer to import than the limits without weight decay take

        # least/(largest value + μ) ≤ |β(μ)| ≤ least/(smallest value + μ) bound μ from both sides
        given, lacking = strength[decayed], (least - strength)[decayed]
        low, high = (np.log(given * value / lacking) for value in (values[-1], values[0]))
        margin = 1e-6 + 1e-9 * np.abs(low)
        root = elementwise.find_root(missing, (low - margin, high + margin), args=(decayed,))
        ridge[decayed] = np.exp(root.x)
    with np.errstate(invalid="ignore"):
        components = gradient / (values + ridge[:, None])
    return components @ data.directions
