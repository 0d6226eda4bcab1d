"""Risk of the interpolating β of least penalty, the limit of flows of diagonal networks, for many Gaussian samples and
dimensions.

Let β minimise Σ_d Q_d(β_d) subject to Xβ = Xβ*, with X (n, D) of N(0, 1). In the limit n, D → ∞ at fixed n/D its
dimensions are separate problems: β_d is the minimiser b of (b − x_d)²/2 + λ Q_d(b) where x_d = β*_d + τ g_d,
g_d ~ N(0, 1), and

    n τ² = Σ_d E(b_d − β*_d)²  (the risk),        n = Σ_d E ∂b_d/∂x_d

fix τ and λ: state evolution of approximate message passing (Donoho, Maleki and Montanari, PNAS 2009; Thrampoulidis,
Abbasi and Hassibi, IEEE Trans. Inf. Theory 2018), without noise and in the limit of interpolation. For Q = b²/2 it
gives the risk |β*|² (1 − n/D) of the minimum norm. Q is `norms.flow_penalty`: with c = 2√(AB) and h = ½ log(A/B) its
gradient is arcsinh(b/c) − h.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize.elementwise import find_root

from carryover.theory.arguments import Array

_NODES = np.linspace(-6, 6, 65)  # of g, for the trapezoidal rule, which kinks affect less than Gaussian quadrature
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_LAMBDA, _TAU = (-12.0, 6.0), (-9.0, 2.0)  # exponents of ten between which λ and τ are searched, in units of |β*|


def interpolation_risk(samples: ArrayLike, counts: ArrayLike, beta: ArrayLike, up: ArrayLike, down: ArrayLike) -> Array:
    """E|β̂ − β*|² (...) after training on `samples` (...) of a task with `counts` (..., kinds) dimensions of each kind.

    Parameters
    ----------
    samples : n, above 0 and below the sum of the counts; ValueError for others
    beta : (..., kinds) coefficients β* of the task, not all 0
    up, down : (..., kinds) A and B of `norms.flow_penalty`, positive; both are w² if all weights at the start are w

    Returns
    -------
    The risk, where it is above about 1e-18 |β*|².
    """
    n, counts, beta, up, down = np.broadcast_arrays(np.expand_dims(samples, -1), counts, beta, up, down)
    shape, kinds = counts.shape[:-1], counts.shape[-1]
    n = n[..., 0].ravel().astype(float)
    counts, beta, up, down = (a.reshape(-1, kinds).astype(float) for a in (counts, beta, up, down))
    if not np.all((n > 0) & (n < counts.sum(-1))):
        raise ValueError("samples must be positive and below the number of dimensions")
    norm = np.sqrt((counts * beta**2).sum(-1))
    largest = np.maximum(2 * np.sqrt(up * down).max(-1) / norm, 1)  # λ is larger where c is above 1

    def risk_over_tau(exponent, problems):
        """log of Σ E(b − β*)² / (n τ²) at this τ, with the λ that solves the second equation."""
        tau = norm[problems] * 10.0**exponent

        def freedom(exponent, part):
            """log of Σ E ∂b/∂x / n at this λ, for a part of the problems."""
            k = problems[part]
            _, slope = _shrunk(tau[part], norm[k] * 10.0**exponent, beta[k], up[k], down[k])
            return np.log((counts[k] * (slope @ _WEIGHTS)).sum(-1) / n[k])

        penalty = norm[problems] * 10.0 ** _falling_root(freedom, _LAMBDA[0], _LAMBDA[1] + np.log10(largest[problems]))
        b, _ = _shrunk(tau, penalty, beta[problems], up[problems], down[problems])
        risk = (counts[problems] * ((b - beta[problems][..., None]) ** 2 @ _WEIGHTS)).sum(-1)
        return np.log(np.maximum(risk, np.finfo(float).tiny) / (n[problems] * tau**2))

    tau = norm * 10.0 ** _falling_root(risk_over_tau, _TAU[0], np.full(n.shape, _TAU[1]))
    return (n * tau**2).reshape(shape)


def _falling_root(f, low, high):
    """Roots of decreasing functions f(x, indices) between low and high; without a root, the end nearest to zero."""
    root = find_root(f, (low, high), args=(np.arange(high.size),), tolerances={"xatol": 1e-8})
    return np.where(root.success, root.x, np.where(root.f_bracket[0] < 0, low, high))


def _shrunk(tau, penalty, beta, up, down):
    """(b, ∂b/∂x), each (..., kinds, nodes): with b = c sinh u, the root of c sinh u + λu = x + λh.

    For a positive right-hand side the left-hand side is convex in u, so Newton's method converges from above. It starts
    at the smaller of the roots with one of both terms alone.
    """
    c, h = (2 * np.sqrt(up * down))[..., None], (np.log(up / down) / 2)[..., None]
    penalty = penalty[..., None, None]
    right = beta[..., None] + tau[..., None, None] * _NODES + penalty * h
    size = np.abs(right)
    u = np.minimum(np.arcsinh(size / c), size / penalty)
    for _ in range(12):
        e = np.exp(u)
        rise, fall = c / 2 * e, c / 2 / e
        u = u - (rise - fall + penalty * u - size) / (rise + fall + penalty)
    steep = c * np.cosh(u)
    return np.sign(right) * c * np.sinh(u), steep / (steep + penalty)
