"""Where finetuning between linear teachers ends, its risk, and what bounds the risk.

From "A theoretical analysis of fine-tuning with linear teachers". Source and target are f(x) = θ·x; the n samples X of
the target carry labels Xθ_T without noise. P∥ projects onto the row space of X, P⊥ = I − P∥, and inputs have mean 0 and
covariance Σ with eigenvalues λ_1 ≥ … ≥ λ_d.

Everything is dimensionless. Coefficients are (..., d) and samples (..., n, d), leading axes broadcasting; X may have
dependent rows and more rows than columns. A covariance `cov` is (d,), its diagonal, or symmetric, (d, d). Functions
raise ValueError where shapes do not fit or an argument is out of its range.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carryover.theory.arguments import Array, broadcast
from carryover.theory.transfer import norm_factor

_ROUNDING = np.finfo(float).eps


def linear_limit(theta_s: ArrayLike, theta_t: ArrayLike, X: ArrayLike) -> Array:
    """Theorem 4.1, equation 1: P⊥θ_S + P∥θ_T, where gradient descent on linear regression from θ_S ends.

    P∥ projects onto the row space of X, and P⊥ = I − P∥.

    theta_s, theta_t : (..., d); X : (..., n, d). Returns (..., d); least squares, θ_T, where X has rank d.

    Examples
    --------
    >>> linear_limit([1.0, 0.0, 0.0], [0.0, 1.0, 1.0], X=[[0.0, 1.0, 0.0]]) + 0.0
    array([1., 1., 0.])
    """
    theta_s = np.asarray(theta_s, dtype=float)
    return theta_s + _inside(X, theta_t - theta_s)[0]


def deep_linear_limit(theta_s: ArrayLike, theta_t: ArrayLike, X: ArrayLike, depth: ArrayLike) -> Array:
    """Theorem 5.2, equation 5: φ P⊥θ_S + P∥θ_T, where gradient flow of a balanced network of L layers ends.

    φ = (|β|/|θ_S|)^{(L−1)/L} is `norm_factor`. Depth np.inf is equation 6, φ = |P∥θ_T|/|P∥θ_S|; depth 1 is
    `linear_limit`.

    Parameters
    ----------
    theta_s, theta_t : (..., d). θ_S is not zero: gradient flow of two layers or more does not leave zero.
    X : (..., n, d)
    depth : L, whole numbers from 1 or np.inf, broadcasting with the leading axes. At np.inf θ_S must have a part in the
        row space of X; φ loses as many digits as |P∥θ_S|² is smaller than |θ_S|².

    Returns
    -------
    (..., d)

    Examples
    --------
    >>> deep_linear_limit([1.0, 0.0], [1.0, 1.0], X=[[0.0, 1.0], [0.0, 2.0]], depth=1).round(6) + 0.0
    array([1., 1.])
    """
    theta_s = np.asarray(theta_s, dtype=float)
    power = (theta_s**2).sum(-1)
    if not (power > 0).all():
        raise ValueError("theta_s must not be zero: a deep network does not leave zero")
    inside, fitted = _inside(X, theta_s, theta_t)
    share = (inside**2).sum(-1) / power
    if np.any(np.isinf(np.asarray(depth, dtype=float)) & (share <= theta_s.shape[-1] * _ROUNDING)):
        raise ValueError("theta_s must have a part in the row space of X where depth is infinite")
    return balanced_limit(fitted, theta_s, theta_s - inside, depth)


def balanced_limit(fitted: Array, start: Array, outside: Array, depth: ArrayLike) -> Array:
    """Equation 5 for labels of any kind: X⁺y + (|β|/|β₀|)^{(L−1)/L} P⊥β₀.

    "Features are fate" takes the factor to be 1 (equation 139), which is the limit of depth L = 1.

    fitted, start, outside : X⁺y, β₀, which is not zero, and P⊥β₀, (..., d); depth : L, broadcasting with the leading
        axes. Returns (..., d).
    """
    power = np.linalg.norm(start, axis=-1) ** 2
    inside_power, outside_power = (np.square(part).sum(-1) / power for part in (fitted, outside))
    return fitted + norm_factor(inside_power, outside_power, depth)[..., None] * outside


def population_risk(beta: ArrayLike, theta_t: ArrayLike, cov: ArrayLike) -> Array:
    """E(x·β − x·θ_T)² = (β − θ_T)ᵀΣ(β − θ_T). beta, theta_t : (..., d); cov : (d,) or (d, d). Returns (...).

    Examples
    --------
    >>> float(population_risk([1.0, 0.0], [0.0, 0.0], cov=[2.0, 1.0]))
    2.0
    """
    gap, cov = np.subtract(beta, theta_t, dtype=float), np.asarray(cov, dtype=float)
    return ((gap * cov if cov.ndim == 1 else gap @ cov) * gap).sum(-1)[()]


def estimation_error_bound(cov: ArrayLike, n: ArrayLike, confidence: ArrayLike, c: ArrayLike = 1) -> Array:
    """g of theorem 4.2, c λ_1 max(√(r/n), r/n, √(δ/n), δ/n) with r = Σλ/λ_1, which bounds |XᵀX/n − Σ| (spectral norm).

    cov : (d,) or (d, d). n ≥ 1 samples; confidence : δ ≥ 1, the bound holding with probability 1 − e^{−δ} for some
    constant c > 0, which the paper leaves open. Arguments but cov broadcast; returns their shape.
    """
    eigenvalues, _ = _spectrum(cov)
    n, confidence, c = broadcast(n=n, confidence=confidence, c=c)
    ratio = np.maximum(eigenvalues.sum() / eigenvalues[0], confidence) / n
    return (c * eigenvalues[0] * np.maximum(np.sqrt(ratio), ratio))[()]


def covariance_terms(
    difference: ArrayLike, cov: ArrayLike, n: ArrayLike, m: ArrayLike, confidence: ArrayLike, c: ArrayLike = 1
) -> tuple[Array, Array]:
    """The two terms of equation 3: 2g³|P_{≤m}Δ|²/λ_m² of the top m eigenvectors and 2g|P_{>m}Δ|² of the others.

    P_{≤m} projects onto the top m eigenvectors of `cov`, P_{>m} onto the others, and g is `estimation_error_bound`. The
    terms grow with c like c³ and c. g falls like 1/n up to n = max(Σλ/λ_1, δ), and like n^{−1/2} beyond: so the terms
    fall like n^{−3} and n^{−1}, and beyond that n like n^{−1.5} and n^{−0.5}, as the paper states.

    Where eigenvalues are equal, the first m are those of smallest index (diagonal) or LAPACK's choice; every choice
    gives a bound. Arguments and errors as in `covariance_bound`. Returns two arrays (...).
    """
    difference, m = np.asarray(difference, dtype=float), np.asarray(m)
    eigenvalues, vectors = _spectrum(cov)
    if not np.all((m >= 1) & (m <= np.count_nonzero(eigenvalues))):
        raise ValueError(f"m must be a whole number from 1 to the rank of cov, {np.count_nonzero(eigenvalues)}")
    lambda_m = eigenvalues[m - 1]
    g = estimation_error_bound(cov, n, confidence, c)
    parts = (difference[..., vectors] if vectors.ndim == 1 else difference @ vectors) ** 2
    # Both are summed, for the complement of one sum would have a rounding error where the other is 0.
    above = np.arange(len(eigenvalues)) < m[..., None]
    top, bottom = np.where(above, parts, 0.0).sum(-1), np.where(above, 0.0, parts).sum(-1)
    return (2 * g**3 * top / lambda_m**2)[()], (2 * g * bottom)[()]


def covariance_bound(
    difference: ArrayLike, cov: ArrayLike, n: ArrayLike, m: ArrayLike, confidence: ArrayLike, c: ArrayLike = 1
) -> Array:
    """Theorem 4.2, equation 3: 2g³|P_{≤m}Δ|²/λ_m² + 2g|P_{>m}Δ|² bounds the risk of `linear_limit`.

    It follows, for all m at once, from the inequality |XᵀX/n − Σ| ≤ g of `estimation_error_bound`. So it holds for all
    m with the probability of that inequality, 1 − e^{−δ}.

    Parameters
    ----------
    difference : (..., d), Δ = θ_T − θ_S
    cov : (d,) or (d, d)
    n : samples, at least 1; n and the arguments after it broadcast with the leading axes
    m : whole number from 1 to d with λ_m > 0 (of a (d, d) covariance, above its rounding)
    confidence : δ ≥ 1
    c : the constant of `estimation_error_bound`, above 0

    Returns
    -------
    (...), the bound: the sum of both `covariance_terms`

    Examples
    --------
    >>> float(covariance_bound([0.1, 0.1], cov=[1.0, 0.1], n=100, m=1, confidence=1.0).round(4))
    0.0021
    """
    top, bottom = covariance_terms(difference, cov, n, m, confidence, c)
    return top + bottom


def benign_overfitting_bound(difference: ArrayLike, cov: ArrayLike, n: ArrayLike) -> Array:
    """|Δ|² λ_1 max(√(r/n), r/n), r = Σλ/λ_1: theorem 4 of Bartlett et al. (2020) for Δ = θ_T − θ_S in place of θ*.

    The theorem's constant factor, its term √(log(1/δ)/n) in the maximum and its terms of the label noise are left out.
    The factor of |Δ|² is `estimation_error_bound` at δ = 1, where the terms with δ do not count since r ≥ 1.

    difference : (..., d), Δ; cov : (d,) or (d, d), of eigenvalues λ; n : samples, at least 1, broadcasting with the
        leading axes. Returns (...).

    Examples
    --------
    >>> float(benign_overfitting_bound([0.1, 0.1], cov=[1.0, 0.1], n=100).round(4))
    0.0021
    """
    return (np.square(difference).sum(-1) * estimation_error_bound(cov, n, 1))[()]


def gaussian_bound(theta_s: ArrayLike, theta_t: ArrayLike, n: ArrayLike, epsilon: ArrayLike) -> Array:
    """Theorem 5.4, equation 10: for x ~ N(0, I_d) `linear_limit` has a risk up to (d − n)/d (1 + ε)² |θ_T − θ_S|².

    So for any ε > 0 with probability 1 − 4e^{−cε²n} − 4e^{−cε²(d−n)} for some c > 0; at ε = 0 it is the mean risk.
    theta_s, theta_t : (..., d); n from 1 to d; ε ≥ 0; they broadcast with the leading axes. Returns (...).
    """
    n, epsilon = broadcast(n=n, epsilon=epsilon)
    difference = np.subtract(theta_t, theta_s, dtype=float)
    return (_outside(n, difference.shape[-1]) * (1 + epsilon) ** 2 * (difference**2).sum(-1))[()]


def deep_gaussian_bound(theta_s: ArrayLike, theta_t: ArrayLike, n: ArrayLike, epsilon: ArrayLike) -> Array:
    """Theorem 5.4, equation 9, for depth ∞: (d − n)/d [(1 + ε)² |θ_T|² |θ̂_T − θ̂_S|² + ζ²], ζ ≈ ε |θ_T|.

    It holds with the probability that `gaussian_bound` states. The paper gives only the order of ζ; here it is ε |θ_T|,
    so ε must be as large as that probability requires. If ε is instead, for one draw of X, the largest relative
    deviation of the lengths of the projections by P∥ and P⊥ from their expected ones, this ζ can be too small; the
    triangle inequality then gives the larger (d − n)/d (1 + ε)² |θ_T|² (|θ̂_T − θ̂_S| + 2ε/(1 − ε))².

    Arguments as in `gaussian_bound`; neither θ may be zero. Returns (...).
    """
    n, epsilon = broadcast(n=n, epsilon=epsilon)
    source, target = (np.linalg.norm(theta, axis=-1, keepdims=True) for theta in (theta_s, theta_t))
    if not ((source > 0).all() and (target > 0).all()):
        raise ValueError("theta_s and theta_t must not be zero: their directions are compared")
    turn = ((theta_t / target - theta_s / source) ** 2).sum(-1)
    return (_outside(n, np.shape(theta_t)[-1]) * target[..., 0] ** 2 * ((1 + epsilon) ** 2 * turn + epsilon**2))[()]


def _outside(n: Array, d: int) -> Array:
    """Share of the d dimensions that n independent samples do not span."""
    if (n > d).any():
        raise ValueError(f"n must not exceed the {d} dimensions")
    return (d - n) / d


def _inside(X: ArrayLike, *thetas: ArrayLike) -> list[Array]:
    """Projections P∥θ (..., d) of each θ (..., d) onto the row space of X (..., n, d)."""
    X = np.asarray(X, dtype=float)
    _, values, directions = np.linalg.svd(X, full_matrices=False)
    kept = values > max(X.shape[-2:]) * _ROUNDING * values[..., :1]  # the others are 0 up to rounding
    parts = (directions @ np.asarray(theta, dtype=float)[..., None] for theta in thetas)  # along each direction
    return [(directions.mT @ (kept[..., None] * part))[..., 0] for part in parts]


def _spectrum(cov: ArrayLike) -> tuple[Array, NDArray]:
    """Eigenvalues (d,) from the largest, and their eigenvectors in columns or, of a diagonal, their indices."""
    cov = np.asarray(cov, dtype=float)
    if cov.ndim == 1:
        order = np.argsort(-cov, kind="stable")
        eigenvalues, vectors = cov[order], order
    else:
        eigenvalues, vectors = (array[..., ::-1] for array in np.linalg.eigh(cov))
        eigenvalues = np.where(eigenvalues > len(cov) * _ROUNDING * eigenvalues[0], eigenvalues, 0.0)
    if not (eigenvalues[0] > 0 and (eigenvalues >= 0).all()):
        raise ValueError("cov must have no negative eigenvalue, and not be zero")
    return eigenvalues, vectors
