"""The limit of gradient flow of diagonal linear networks, which needs no training.

The limit minimises a strictly convex penalty over the interpolants. Its dual has one variable per sample; in an
orthonormal basis Q of the row space of X the dual is

    Φ(μ) = Σ_d c_d cosh(u_d) − t·μ,    u = h + Qμ,    c = 2√(AB),    h = ½ log(A/B),    β = c sinh u,

with Qᵀβ = t the same affine set as Xβ = y. Newton's direction with a line search that nearly minimises Φ (a line costs
O(D), a Newton matrix O(n²D)) converges from the network's own weights, μ = 0, in 4–30 steps over ten orders of
magnitude of c.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from carryover.networks.diagonal import Weights, rates

_TARGET = 1e-14  # stop here; rounding usually stops the iteration a little earlier
_REFINE = 1e-12  # above this relative residual the last correction acts on β
_REQUIRED = 1e-11  # relative residual without which no result is returned
_MAX_NEWTON = 200
_MAX_EXPONENT = 600.0  # cosh stays finite
_CLOSE = 0.1  # in u: so near the minimum Newton's own step contracts, and a slope would be all rounding


def diagonal_flow_limit(
    X: np.ndarray, y: np.ndarray, w1_plus: np.ndarray, w2_plus: np.ndarray, w1_minus: np.ndarray, w2_minus: np.ndarray
) -> np.ndarray:
    """β in the limit of gradient flow on the mean squared error of a one-output diagonal linear network.

    X: (..., n, D) inputs, y: (..., n) targets, the four weight vectors at the start: (..., D). Leading dimensions
    broadcast and every problem is solved on its own. Returns (..., D), with Xβ = y to 1e-10 relative where X has
    dependent columns, and the least-squares solution where it has none (any start leads there).

    From "feature reuse in multi-task learning and finetuning (appendix)", A (eqs 13–23), for weights that need not be
    symmetric. Raises ValueError for shapes that do not fit, values that are not finite, targets that no β
    interpolates although the columns of X are dependent, and a dimension with A = 0 or B = 0 but not both: its sign is
    fixed and the flow may have no limit. Dimensions whose weights are all zero stay at zero.

    Examples
    --------
    >>> X, y = np.array([[1.0, 1.0]]), np.array([1.0])
    >>> ones, small = np.array([1.0, 1e-3]), np.full(2, 1e-3)
    >>> diagonal_flow_limit(X, y, ones, small, ones, small).round(3)
    array([1., 0.])
    """
    X, y, *paths = (np.asarray(values, dtype=np.float64) for values in (X, y, w1_plus, w2_plus, w1_minus, w2_minus))
    if not all(np.isfinite(array).all() for array in (X, y, *paths)):
        raise ValueError("inputs, targets and weights must be finite")
    (n, D), lead = X.shape[-2:], np.broadcast_shapes(X.shape[:-2], y.shape[:-1], *(w.shape[:-1] for w in paths))
    X, y = np.broadcast_to(X, (*lead, n, D)), np.broadcast_to(y, (*lead, n))
    paths = [np.broadcast_to(w, (*lead, D)) for w in paths]
    A, B = rates(*paths)
    if np.any((A == 0) != (B == 0)):
        raise ValueError("w1_plus, w2_plus, w1_minus, w2_minus must not make exactly one of the rates A and B zero")
    beta = np.zeros(A.shape)
    for run in np.ndindex(A.shape[:-1]):
        alive = A[run] > 0
        whole = alive.all()  # spares a copy of X
        basis, target = _feasible_set(X[run] if whole else X[run][:, alive], y[run])
        beta[run][alive] = target if basis is None else _solve_dual(basis, target, A[run][alive], B[run][alive])
    return beta


def readout_limit(X: np.ndarray, y: np.ndarray, start: Weights) -> Weights:
    """Networks of one output in the limit of gradient flow of their readouts alone, the linear probe.

    X: (runs, n, D) inputs, y: (runs, n) targets. A probe has β = β₀ + √c x with c = w1₊² + w1₋² in each dimension; x
    starts at 0 and moves by the flow on the features X√c, so that it ends in the least-squares solution of least norm.
    """
    beta, scale = start.coefficients()[:, 0], np.hypot(start.first_plus, start.first_minus)
    x = np.stack([
        np.linalg.lstsq(inputs * s, targets - inputs @ b)[0]
        for inputs, targets, s, b in zip(X, y, scale, beta, strict=True)
    ])  # fmt: skip
    change = (x / np.where(scale > 0, scale, 1.0))[:, None]
    plus = start.second_plus + start.first_plus[:, None] * change
    minus = start.second_minus - start.first_minus[:, None] * change
    return Weights(start.first_plus, start.first_minus, plus, minus)


def _feasible_set(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """(Q, t), an orthonormal basis Q (D, r) and t (r,) such that Qᵀβ = t has the same solutions β as Xβ = y. Where the
    columns of X (n, D) are independent, and the least-squares solution β so unique, it is (None, β)."""
    n, D = X.shape
    if min(n, D) == 0:
        return np.zeros((D, 0)), np.zeros(0)
    tall = n >= D
    Q, R = linalg.qr(X if tall else X.T, mode="economic", check_finite=False)
    # QR serves where R is regular, by LAPACK's estimate of its condition; else singular values tell the rank.
    if linalg.lapack.dtrcon(R)[0] > 1e-11:
        if tall:
            return None, linalg.solve_triangular(R, Q.T @ y)
        return Q, linalg.solve_triangular(R, y, trans="T")
    U, s, Vt = linalg.svd(X, full_matrices=False, check_finite=False)
    rank = int(np.sum(s > s[0] * 10 * max(n, D) * np.finfo(float).eps)) if s[0] > 0 else 0
    coordinates = U[:, :rank].T @ y
    t = coordinates / s[:rank]
    if rank == D:
        return None, Vt.T @ t
    if linalg.norm(y - U[:, :rank] @ coordinates) > 1e-8 * linalg.norm(y):
        raise ValueError("y must be interpolated by some β where the columns of X are dependent (repeated rows differ)")
    return np.ascontiguousarray(Vt[:rank].T), t


def _solve_dual(Q: np.ndarray, t: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """β = c sinh(h + Qμ), (D,), at the minimum of the dual, by Newton's method with a line search.

    Q (D, r) and t (r,) are those of `_feasible_set`. A and B (D,), positive, are the `rates` of the weights at the
    start. Raises ArithmeticError where the residual |Qᵀβ − t| stays above `_REQUIRED` times |t| or |Qᵀβ₀|.
    """
    c, h = 2 * np.sqrt(A) * np.sqrt(B), 0.5 * (np.log(A) - np.log(B))
    mu = np.zeros(len(t))
    size = max(linalg.norm(t), np.finfo(float).tiny)
    required = _REQUIRED * max(size, linalg.norm(Q.T @ (A - B)))
    best, best_residual, stalled = mu, np.inf, 0
    for _ in range(_MAX_NEWTON):
        u = h + Q @ mu
        curvature = c * np.cosh(u)
        gradient = Q.T @ (c * np.sinh(u)) - t
        residual = linalg.norm(gradient)
        # Far from the minimum the gradient may rise for a step or two while Φ falls; near it, rounding stops it.
        stalled = 0 if residual < 0.5 * best_residual else stalled + 1
        if residual < best_residual:
            best, best_residual = mu, residual
        if residual <= _TARGET * size or (best_residual <= required and stalled >= 2):
            break
        step = _newton_direction(Q, curvature, gradient)
        mu = mu + _line_minimum(c, u, Q @ step, t @ step) * step
    if best_residual > required:
        raise ArithmeticError(f"the dual stopped at a residual of {best_residual:.1e}, above {required:.1e}")
    u = h + Q @ best
    beta, curvature = c * np.sinh(u), c * np.cosh(u)
    if best_residual > _REFINE * size:  # rounding of u, times a large c: correct β itself by the same Newton step
        beta += curvature * (Q @ _newton_direction(Q, curvature, Q.T @ beta - t))
    return beta


def _newton_direction(Q: np.ndarray, curvature: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Newton's direction −H⁻¹∇Φ (r,), with H = Qᵀ diag(curvature) Q, for Q (D, r), curvature (D,) and ∇Φ (r,).

    If rounding makes H indefinite, it gets a ridge of 1e-15 to 1e-11 of its trace, the first that suffices.
    """
    half = Q * np.sqrt(curvature)[:, None]
    H = half.T @ half
    for ridge in (0.0, 1e-15, 1e-13, 1e-11):
        try:
            factor = linalg.cho_factor(H + ridge * np.trace(H) * np.eye(len(H)) if ridge else H, check_finite=False)
        except linalg.LinAlgError:
            continue
        return -linalg.cho_solve(factor, gradient, check_finite=False)
    raise ArithmeticError("the dual's Newton matrix is not positive definite to working precision")


def _line_minimum(c: np.ndarray, u: np.ndarray, du: np.ndarray, linear: float) -> float:
    """a > 0 with φ'(a) = Σ c sinh(u + a du) du − linear ≈ 0, for c, u and du = Q step, (D,), and linear = t·step.

    a = 1 is doubled while φ' is too low, and taken where |φ'| is a tenth of that at 0; otherwise a is bisected.
    """
    if (longest := np.abs(du).max()) < _CLOSE:
        return 1.0
    limit = (_MAX_EXPONENT - np.abs(u).max()) / longest

    def slope(a: float) -> float:
        return (c * np.sinh(u + a * du)) @ du - linear

    start, low, high = abs(slope(0.0)), 0.0, min(1.0, limit)
    while (value := slope(high)) < -0.1 * start and high < limit:
        low, high = high, min(2 * high, limit)
    if abs(value) <= 0.1 * start:
        return high
    while high - low > 0.05 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return (low + high) / 2
