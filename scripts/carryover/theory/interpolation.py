"""Risk of the interpolating β of least penalty, where flows of diagonal networks end, for many Gaussian samples and
dimensions.

Of all β with Xβ = Xβ*, X (n, D) of N(0, 1), the one of least Σ_d Q_d(β_d) is in the limit n, D → ∞ at one n/D what
separate problems give: β_d is the minimiser b of (b − x_d)²/2 + λ Q_d(b) where x_d = β*_d + τ g_d, g_d ~ N(0, 1), and

    n τ² = Σ_d E(b_d − β*_d)²  (the risk),        n = Σ_d E ∂b_d/∂x_d

fix τ and λ: state evolution of approximate message passing (Donoho, Maleki and Montanari, PNAS 2009; Thrampoulidis,
Abbasi and Hassibi, IEEE Trans. Inf. Theory 2018), without noise and with λ's own penalty going to 0. For Q = b²/2 it is
the risk |β*|² (1 − n/D) of the minimum norm. Q is `norms.flow_penalty`: with c = 2√(AB) and h = ½ log(A/B) its gradient
is arcsinh(b/c) − h.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize.elementwise import find_root

from carryover.theory.arguments import Array

_NODES = np.linspace(-6, 6, 65)  # of g, by the trapezoidal rule: kinks do not spoil it as they do Gauss's
_WEIGHTS = np.exp(-(_NODES**2) / 2) / np.exp(-(_NODES**2) / 2).sum()
_NEWTON = 12
_LAMBDA, _TAU = (-12.0, 6.0), (-9.0, 2.0)  # exponents of ten between which they are looked for, in units of |β*|


def interpolation_risk(samples: ArrayLike, counts: ArrayLike, beta: ArrayLike, up: ArrayLike, down: ArrayLike) -> Array:
    """E|β̂ − β*|² (...) of `samples` (...) from a task whose dimensions come in kinds, `counts` (..., kinds) of each.

    Parameters
    ----------
    samples : n, above 0 and below the sum of the counts; ValueError for others
    beta : (..., kinds) coefficients β* of the task, not all 0
    up, down : (..., kinds) A and B of `norms.flow_penalty`, positive: for weights w of both layers and both paths w²

    Returns
    -------
    The risk, where it is above about 1e-18 |β*|².
    """
    n = np.asarray(samples, dtype=float)
    counts, beta, up, down = (np.asarray(a, dtype=float) for a in np.broadcast_arrays(counts, beta, up, down))
    if not np.all((n > 0) & (n < counts.sum(-1))):
        raise ValueError("samples must be positive and below the number of dimensions")
    shape = np.broadcast_shapes(n.shape, counts.shape[:-1])
    n = np.broadcast_to(n, shape).ravel()
    counts, *task = (np.broadcast_to(a, (*shape, a.shape[-1])).reshape(n.size, -1) for a in (counts, beta, up, down))
    norm = np.sqrt((counts * task[0] ** 2).sum(-1))
    largest = np.maximum(2 * np.sqrt(task[1] * task[2]).max(-1) / norm, 1)  # c above 1 asks for a larger λ

    def risk_over_tau(exponent, case):
        """log of Σ E(b − β*)² over n τ² at this τ and the λ that goes with it."""
        tau = norm[case] * 10.0**exponent

        def freedom(exponent, part):
            """log of Σ E ∂b/∂x over n at this λ."""
            one = case[part]
            _, slope = _shrunk(tau[part], norm[one] * 10.0**exponent, *(a[one] for a in task))
            return np.log((counts[one] * (slope @ _WEIGHTS)).sum(-1) / n[one])

        penalty = norm[case] * 10.0 ** _falling_root(freedom, _LAMBDA[0], _LAMBDA[1] + np.log10(largest[case]))
        b, _ = _shrunk(tau, penalty, *(a[case] for a in task))
        risk = (counts[case] * ((b - task[0][case][..., None]) ** 2 @ _WEIGHTS)).sum(-1)
        return np.log(np.maximum(risk, np.finfo(float).tiny) / (n[case] * tau**2))

    tau = norm * 10.0 ** _falling_root(risk_over_tau, _TAU[0], np.full(n.shape, _TAU[1]))
    return (n * tau**2).reshape(shape)


def _falling_root(f, low, high):
    """Where falling functions f(x, their numbers) are zero; where they are nowhere, the end that is nearer to it."""
    found = find_root(f, (low, high), args=(np.arange(high.size),), tolerances={"xatol": 1e-8})
    return np.where(found.success, found.x, np.where(found.f_bracket[0] < 0, low, high))


def _shrunk(tau, penalty, beta, up, down):
    """(b, ∂b/∂x), each (..., kinds, nodes): with b = c sinh u, the root of c sinh u + λu = x + λh.

    For a positive right-hand side that is convex in u: Newton's iteration comes down to the root from where either term
    alone would be all of it.
    """
    c, h = (2 * np.sqrt(up * down))[..., None], (np.log(up / down) / 2)[..., None]
    penalty = penalty[..., None, None]
    right = beta[..., None] + tau[..., None, None] * _NODES + penalty * h
    size = np.abs(right)
    u = np.minimum(np.arcsinh(size / c), size / penalty)
    for _ in range(_NEWTON):
        e = np.exp(u)
        rise, fall = c / 2 * e, c / 2 / e
        u = u - (rise - fall + penalty * u - size) / (rise + fall + penalty)
    steep = c * np.cosh(u)
    return np.sign(right) * c * np.sinh(u), steep / (steep + penalty)
