"""The neural tangent kernel's bound on the risk of a finetuned wide ReLU network with a fixed readout.

From "A theoretical analysis of fine-tuning with linear teachers", section 6, after Arora et al. (2019), "Fine-grained
analysis of optimization and generalization for overparameterized two-layer neural networks". Inputs have norm 1 to
1e-6, as inputs normalised in single precision have; every function raises ValueError for others, and for other shapes.
"""

import numpy as np
from numpy.typing import ArrayLike

from carryover.theory.arguments import Array, finite

_UNIT = 1e-6  # how far from 1 a norm may be
_OUTSIDE = 1e-6  # share of the residual, as a norm, beyond which it counts as outside the range of the Gram matrix


def infinite_width_gram(X: ArrayLike, V: ArrayLike | None = None) -> Array:
    """H^∞, the Gram matrix of the tangent features of a two-layer ReLU network whose first layer alone is trained.

    H_ij = E[x_i·x_j 1[w·x_i > 0] 1[w·x_j > 0]] = x_i·x_j (π − θ_ij)/(2π), w ~ N(0, I), θ_ij the angle of x_i and x_j.

    The angle is found from |x_i − x_j| and |x_i + x_j|, accurate also for nearly parallel and nearly opposite inputs.
    Equal inputs give 1/2, opposite ones 0.

    X : (n, d); V : (k, d), X itself if left out. Returns (n, n) or (n, k).
    """
    from scipy.spatial.distance import cdist  # here, since all trainings of ReLU networks import this module

    X = _units("X", X)
    V = X if V is None else _units("V", V)
    # (π − θ)/2 = arctan(|x + x'|/|x − x'|)
    return X @ V.T * np.arctan2(cdist(X, -V), cdist(X, V)) / np.pi


def ntk_bound(X: ArrayLike, residual: ArrayLike) -> Array:
    """√(ỹᵀ(H^∞)⁻¹ỹ) of theorem 6.1, ỹ = y − f(X; Θ(0)) being what the pretrained network leaves of the labels.

    For linear teachers, ỹ = XΔ with Δ = θ_T − θ_S, corollary 6.2 bounds it by 3|Δ|. In fact it is at most 2|Δ|: with
    κ(u) = u/4 + u arcsin(u)/(2π) the kernel of cosine u, the second part has a power series of nonnegative
    coefficients, so H^∞ ⪰ XXᵀ/4 and ỹᵀ(H^∞)⁻¹ỹ ≤ 4|P∥Δ|². That series is even, Δ·x is odd, so 2 is approached as the
    inputs fill the sphere and cannot be improved.

    The theorem takes H^∞ to be regular, which it is where no two inputs are parallel. Eigenvalues within rounding of 0
    (n times 2.2e-16 of the largest) count as 0: where more than 1e-6 of |ỹ| lies along them, as of equal inputs with
    different labels, the result is infinite, else they are left out.

    X : (n, d); residual : (..., n). Returns (...).
    """
    gram, residual = infinite_width_gram(X), finite("residual", residual, axes=1)
    if residual.shape[-1] != len(gram):
        raise ValueError(f"residual must be (..., {len(gram)}); its shape is {residual.shape}")
    eigenvalues, vectors = np.linalg.eigh(gram)
    kept = eigenvalues > len(gram) * np.finfo(float).eps * eigenvalues.max(initial=0)
    parts = (residual @ vectors) ** 2
    square = np.where(kept, parts / np.where(kept, eigenvalues, 1.0), 0.0).sum(-1)
    outside = np.where(kept, 0.0, parts).sum(-1) > _OUTSIDE**2 * parts.sum(-1)
    return np.where(outside, np.inf, np.sqrt(square))[()]


def ntk_risk_bound(X: ArrayLike, residual: ArrayLike) -> Array:
    """2√(ỹᵀ(H^∞)⁻¹ỹ/n), the first term of equation 11, for a loss in [0, 1] that is 1-Lipschitz and 0 for right labels.

    Left out is O(√(log(n/(λ_0 δ))/n)), λ_0 the least eigenvalue of H^∞ and δ the probability of failure, whose constant
    the paper leaves open. From 1 on the bound is vacuous; for linear teachers (see `ntk_bound`) this term is below
    1 where n > 16|Δ|², by the paper's 6|Δ|/√n (corollary 6.3) where n > 36|Δ|².

    Arguments as in `ntk_bound`, n ≥ 1.
    """
    bound, n = ntk_bound(X, residual), len(np.asarray(X))
    if not n:
        raise ValueError("X must have a row")
    return 2 * bound / np.sqrt(n)


def _units(name: str, X: ArrayLike) -> Array:
    X = finite(name, X, axes=2)
    if X.ndim != 2:
        raise ValueError(f"{name} must be (n, d); its shape is {X.shape}")
    if np.any(abs(np.linalg.norm(X, axis=1) - 1) > _UNIT):
        raise ValueError(f"the rows of {name} must have norm 1, as the theorem assumes")
    return X
