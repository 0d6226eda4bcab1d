"""Linear regression data in the coordinates in which gradient descent on them is simplest.

With the thin singular value decomposition X = U diag(s) V, the loss |Xβ − y|²/(2n) of coefficients β is, up to what no
β can change, Σ_i (s_i b_i − t_i)²/(2n), where b = Vβ and t = Uᵀy. A gradient in β has components along V alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Factored:
    """X (n, d) as U diag(s) V, of rank k ≤ min(n, d)."""

    left: np.ndarray  # U (n, k), orthonormal columns
    values: np.ndarray  # s (k,), positive, falling
    directions: np.ndarray  # V (k, d), an orthonormal basis of the row space of X
    samples: int  # n, by which the loss is divided

    @classmethod
    def of(cls, X: np.ndarray) -> Factored:
        """The factors of X (n, d); directions that rounding alone tells from zero are left out.

        Raises ValueError where X is no matrix of finite numbers with at least one that is not zero.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2 or not X.size or not np.isfinite(X).all() or not X.any():
            raise ValueError(f"X must be a matrix of finite numbers, not all zero, got the shape {X.shape}")
        left, values, directions = np.linalg.svd(X, full_matrices=False)
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
        """t = Uᵀy, (..., k), of targets y (..., n)."""
        return np.asarray(y, dtype=np.float64) @ self.left
