"""The norms that multi-task learning and finetuning implicitly minimise over the coefficients β of a linear predictor.

From "Feature reuse in multi-task learning and finetuning (appendix)", A and B. A diagonal linear network computes
β = w₊⁽¹⁾ w₊⁽²⁾ − w₋⁽¹⁾ w₋⁽²⁾ elementwise. The paper's Q penalty holds for equal starting weights on the two paths;
`flow_penalty` is its general form, for the unequal weights that pretraining leaves behind.
"""

import numpy as np
from numpy.typing import ArrayLike

from carryover.theory.arguments import Array, broadcast


def q_norm(beta: ArrayLike, w1: ArrayLike, w2: ArrayLike) -> Array:
    """The Q penalty of gradient flow from weights that are equal on both paths, twice their `flow_penalty`.

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

    Examples
    --------
    >>> float(q_norm([1.0, 0.0], w1=[1.0, 1e-3], w2=1e-3).round(3))
    0.934
    """
    return 2 * flow_penalty(beta, w1, w2, w1, w2)


def flow_penalty(
    beta: ArrayLike, w1_plus: ArrayLike, w2_plus: ArrayLike, w1_minus: ArrayLike, w2_minus: ArrayLike
) -> Array:
    """The convex penalty whose minimiser among all interpolating β is the limit of gradient flow from any weights.

    With s, δ = (w1 ± w2)/2 on each path, A = s₊² + δ₋² and B = s₋² + δ₊², gradient flow moves along
    β = P − N, P = A eᶻ, N = B e⁻ᶻ, z = Xᵀν with ν (samples,) ("Feature reuse in multi-task learning and finetuning
    (appendix)", equations 13-17, without the assumption w₊ = w₋ made there after equation 17). The penalty has the
    gradient z = log((β + √(β² + 4AB)) / (2A)), so that its KKT conditions hold at the limit of the flow. It is a Q
    penalty of scale 2√(AB) plus the linear term −½ log(A/B) β, and 0 at its minimum, the starting point β₀ = A − B:

        Σ_d zβ − (P + N) + (A + B) = Σ_d zβ − (β − β₀)(β + β₀)/(P + N + A + B).

    Parameters
    ----------
    beta : (..., D) coefficients
    w1_plus, w2_plus, w1_minus, w2_minus : weights of both layers and paths at the start of training (after pretraining,
        if any); broadcast against `beta`

    Returns
    -------
    (...), dimensionless; inf where β cannot be reached from the starting weights (β > 0 with A = 0, β < 0 with B = 0).
    Its relative error is about 1e-16 |β₀|/|β − β₀|, where both terms cancel close to the start.

    Examples
    --------
    >>> float(flow_penalty([0.5, 0.0], 1.0, 0.1, 1.0, 0.1).round(3))
    0.121
    """
    beta, w1_plus, w2_plus, w1_minus, w2_minus = broadcast(
        beta=beta, w1_plus=w1_plus, w2_plus=w2_plus, w1_minus=w1_minus, w2_minus=w2_minus
    )
    A = ((w1_plus + w2_plus) ** 2 + (w1_minus - w2_minus) ** 2) / 4
    B = ((w1_minus + w2_minus) ** 2 + (w1_plus - w2_plus) ** 2) / 4
    start = w1_plus * w2_plus - w1_minus * w2_minus
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (beta + start) / (np.hypot(beta, 2 * np.sqrt(A) * np.sqrt(B)) + A + B)  # √(β² + 4AB) = P + N
        # z = log P/A = −log N/B, of which the one with the larger of P and N is accurate.
        change_p, change_n = ((beta - start) / 2 * (ratio + sign) for sign in (1, -1))  # P − A and N − B
        z = np.where(beta > 0, np.log1p(change_p / A), -np.log1p(change_n / B))
        penalty = np.where(beta == 0, 0.0, z * beta) - ratio * (beta - start)
    return np.where(beta == start, 0.0, penalty).sum(axis=-1)


def l12_norm(beta: ArrayLike) -> Array:
    """The ℓ₁,₂ norm Σ_d ‖β_{·,d}‖₂ of the coefficients of O outputs.

    "Feature reuse in multi-task learning and finetuning (appendix)", equations 30 and 35, without their factor 2: twice
    this is the smallest squared norm of the parameters of a multi-task network that computes β.

    beta: (..., O, D). Returns (...).

    Examples
    --------
    >>> float(l12_norm([[3.0, 0.0], [4.0, 1.0]]))
    6.0
    """
    return np.linalg.norm(beta, axis=-2).sum(axis=-1)


def l1_norm(beta: ArrayLike) -> Array:
    """The ℓ₁ norm Σ_d |β_d|, the ℓ₁,₂ norm of a single output. beta: (..., D). Returns (...).

    Examples
    --------
    >>> float(l1_norm([1.0, -2.0]))
    3.0
    """
    return np.abs(beta).sum(axis=-1)
