"""The norms that multi-task learning and finetuning implicitly minimise over the coefficients β of a linear predictor.

From "Feature reuse in multi-task learning and finetuning (appendix)", A and B. A diagonal linear network computes
β = w₊⁽¹⁾ w₊⁽²⁾ − w₋⁽¹⁾ w₋⁽²⁾ elementwise. The paper's Q penalty holds for equal starting weights on the two paths;
`flow_penalty` is its general form, for the unequal weights that pretraining leaves behind. Every function raises
ValueError where an argument is not finite or shapes do not fit.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import kl_div

from carryover.theory.arguments import Array, broadcast, finite


def q_norm(beta: ArrayLike, w1: ArrayLike, w2: ArrayLike) -> Array:
    """The Q penalty of gradient flow from weights that are equal on both paths.

    "Feature reuse in multi-task learning and finetuning (appendix)", equations 22-23, with c = w1² + w2²:
    Σ_d c q(2β/c), q(z) = 2 − √(4 + z²) + z arcsinh(z/2). It tends to Σ β²/c for |β| ≪ c and to
    2 Σ |β| log(2|β|/(e c)) for |β| ≫ c.

    Parameters
    ----------
    beta : (..., D) coefficients
    w1, w2 : first- and second-layer weights at the start of training, both paths alike; broadcast against `beta`

    Returns
    -------
    (...), dimensionless. A dimension whose starting weights are both 0 cannot move: it costs 0 at β = 0, else inf.
    """
    beta, w1, w2 = broadcast(beta=finite("beta", beta, axes=1), w1=w1, w2=w2)
    size, radius = np.abs(beta), np.hypot(w1, w2)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = size / radius / radius  # |β|/c also where c itself would underflow
        angle = np.where(ratio < 1e8, np.arcsinh(ratio), np.log(size) + np.log(2) - 2 * np.log(radius))
        # √(c² + β²) − c, as a quotient because the difference cancels.
        rise = size * (size / (radius**2 + np.hypot(size, radius**2)))
        penalty = 2 * (size * angle - rise)
    return np.where(size == 0, 0.0, penalty).sum(axis=-1)


def flow_penalty(
    beta: ArrayLike, w1_plus: ArrayLike, w2_plus: ArrayLike, w1_minus: ArrayLike, w2_minus: ArrayLike
) -> Array:
    """The convex penalty whose minimiser among all interpolating β is the limit of gradient flow from any weights.

    With s, d = (w1 ± w2)/2 on each path, A = s₊² + d₋² and B = s₋² + d₊², gradient flow moves along
    β = P − N, P = A eᶻ, N = B e⁻ᶻ, z = Xᵀν ("Feature reuse in multi-task learning and finetuning (appendix)", equations
    13-17, without the assumption w₊ = w₋ made there after equation 17). The penalty has the gradient
    z = log((β + √(β² + 4AB)) / (2A)), so that its KKT conditions are the flow's limit: a Q penalty of scale 2√(AB) plus
    the linear term −½ log(A/B) β. Its constant is chosen so that it is 0 at its minimum, the starting point β = A − B;
    then it is a sum of two generalised Kullback-Leibler divergences,

        Σ_d [P log(P/A) − P + A] + [N log(N/B) − N + B].

    For w₊ = w₋ it is half of `q_norm`, which has the same minimisers.

    Parameters
    ----------
    beta : (..., D) coefficients
    w1_plus, w2_plus, w1_minus, w2_minus : weights of both layers and paths at the start of training (after pretraining,
        if any); broadcast against `beta`

    Returns
    -------
    (...), dimensionless; inf where β cannot be reached from the starting weights (β > 0 with A = 0, β < 0 with B = 0).
    """
    beta, w1_plus, w2_plus, w1_minus, w2_minus = broadcast(
        beta=finite("beta", beta, axes=1), w1_plus=w1_plus, w2_plus=w2_plus, w1_minus=w1_minus, w2_minus=w2_minus
    )
    up = ((w1_plus + w2_plus) ** 2 + (w1_minus - w2_minus) ** 2) / 4
    down = ((w1_minus + w2_minus) ** 2 + (w1_plus - w2_plus) ** 2) / 4
    start = w1_plus * w2_plus - w1_minus * w2_minus  # A − B, which cancels where the two layers differ much
    # β → −β exchanges the two parts; arranged so that the first one is the larger at the mean of start and end, every
    # difference below is free of cancellation.
    mirrored = beta + start < 0
    beta, start = np.where(mirrored, -beta, beta), np.where(mirrored, -start, start)
    first, second = np.where(mirrored, down, up), np.where(mirrored, up, down)
    geometric_mean = np.sqrt(first) * np.sqrt(second)
    root = np.hypot(beta, 2 * geometric_mean)  # P + N
    larger_end = (np.abs(beta) + root) / 2
    smaller_end = geometric_mean * _ratio(geometric_mean, larger_end)
    first_end, second_end = np.where(beta > 0, (larger_end, smaller_end), (smaller_end, larger_end))
    first_change = (beta - start) / 2 * (1 + _ratio(beta + start, root + first + second))
    second_change = np.where(first_end > 0, -second * _ratio(first_change, first_end), second_end - second)
    return (_divergence(first_end, first, first_change) + _divergence(second_end, second, second_change)).sum(axis=-1)


def l12_norm(beta: ArrayLike) -> Array:
    """The ℓ₁,₂ norm Σ_d ‖β_{·,d}‖₂ of the coefficients of O outputs.

    "Feature reuse in multi-task learning and finetuning (appendix)", equations 30 and 35, without their factor 2: twice
    this is the smallest squared norm of the parameters of a multi-task network that computes β.

    beta: (..., O, D), finite. Returns (...). Raises ValueError for other inputs.
    """
    return np.linalg.norm(finite("beta", beta, axes=2), axis=-2).sum(axis=-1)


def l1_norm(beta: ArrayLike) -> Array:
    """The ℓ₁ norm Σ_d |β_d|, the ℓ₁,₂ norm of a single output. beta: (..., D), finite. Returns (...)."""
    return np.abs(finite("beta", beta, axes=1)).sum(axis=-1)


def _divergence(end: Array, start: Array, change: Array) -> Array:
    """end log(end/start) − end + start for nonnegative `end` = start + change, accurate also for a small change.

    With v = change/(end + start), log(end/start) = 2 artanh v and the divergence is change·v + 2 end (artanh v − v).
    """
    v = _ratio(change, end + start)
    square = v * v
    # (artanh v − v)/v³ = 1/3 + v²/5 + …; nine terms leave less than 1e-17 for |v| < 0.1.
    series = np.polynomial.polynomial.polyval(square, 1 / np.arange(3, 21, 2))
    near = change * v + 2 * end * v * square * series
    return np.where(np.abs(v) < 0.1, near, kl_div(end, start))


def _ratio(numerator: Array, denominator: Array) -> Array:
    """The quotient of `numerator` and a nonnegative `denominator`, 0 where that is 0."""
    return np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator > 0)
