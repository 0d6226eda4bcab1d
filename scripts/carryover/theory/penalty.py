"""What it costs a hidden ReLU unit, after pretraining, to take up a feature of the finetuning task, and a network to
compute what it does or to become its new teacher: the sum over its units (equation 4), at its smallest.

From "The implicit penalty of finetuning in ReLU networks" (equations 5-11). A unit starts at input weights w₀ of norm
m₀ and at readout γ; it must end with direction ŵ (cosine ρ with w₀) and signed magnitude m = ‖w⁽¹⁾‖ w⁽²⁾. With
u = ‖w⁽¹⁾‖ the squared distance that it travels is

    p(u) = (m/u − γ)² + (u − m₀ρ)² + m₀²(1 − ρ²),        r̃ = min over u > 0.

In units of √|m|, with x = u/√|m| and y = |w⁽²⁾|/√|m|, the first two terms are the squared distance from the point
(a, b) = (m₀ρ, γ sign m)/√|m| to the point (x, y) of the hyperbola branch xy = 1, x > 0. That picture settles what the
quartic x⁴ − a x³ + b x − 1 = 0 leaves open. It may have three positive roots; but a point of the branch on the other
side of the diagonal x = y than (a, b) is farther than its mirror image, so the nearest point is on the side of (a, b).
Exchanging the two coordinates where needed, a ≥ b and x ≥ 1, and there the root is unique.

For the teacher, units h with input weights w₀ₕ and readouts 0 share the teacher's unit v, of coefficient c. With pₕ =
⟨w₀ₕ, v⟩ > 0, u and a their new lengths and readouts, and all three as vectors over h, they travel

    |u − p|² + |a|² + Σ (‖w₀ₕ‖² − pₕ²)        subject to u · a = c.

The first two terms are least where u and a are along p: together the units cost what one unit of norm |p| does that
need not turn (ρ = 1). The last sum is what it costs to turn them, whatever they take up: so few do, those nearest to v.
"""

import numpy as np
from numpy.typing import ArrayLike

from carryover.theory.arguments import Array, broadcast

_BLOCK = 1 << 13  # points whose temporaries stay in cache together
_NEWTON_STEPS = 100  # 5-10 in general; about 40 near the cusp a = b = 2, where the three roots meet
_TOLERANCE = 4 * np.finfo(float).eps


def relu_penalty(m: ArrayLike, m0: ArrayLike, rho: ArrayLike, gamma: ArrayLike) -> Array:
    """Smallest squared distance r̃ from a pretrained unit to one that computes a given feature.

    "The implicit penalty of finetuning in ReLU networks", equations 5 and 11, at the global minimiser u*. At m = 0,
    where no u > 0 need attain the minimum, the value is min(m₀², γ² + m₀²(1 − max(ρ, 0)²)): the unit gives up its input
    weights or its readout, whichever is cheaper. This is the limit m → 0 with m of the sign of γ; from the other side
    only the second alternative is within reach.

    Parameters
    ----------
    m : signed magnitude ‖w⁽¹⁾‖ w⁽²⁾ of the feature after finetuning
    m0 : norm of the unit's input weights after pretraining (√m_aux for an auxiliary coefficient m_aux), ≥ 0
    rho : cosine between the input weights before and after finetuning, in [−1, 1]
    gamma : readout weight at the start of finetuning, of either sign

    Returns
    -------
    Dimensionless, of the shape to which the arguments broadcast.

    Raises
    ------
    ValueError : an argument is not finite or out of its range, or the shapes do not broadcast

    Examples
    --------
    >>> float(relu_penalty(1.0, m0=1.0, rho=1.0, gamma=0.0)) < float(relu_penalty(1.0, m0=0.0, rho=0.0, gamma=0.0))
    True
    >>> relu_penalty([0.5, 1.0, 2.0], m0=1.0, rho=0.9, gamma=0.0).round(3)
    array([0.437, 0.94 , 2.214])
    """
    # `broadcast` takes what is called gamma for positive, hence another name.
    m, m0, rho, gamma = broadcast(m=m, m0=m0, rho=rho, readout=gamma)
    y, offset = _nearest_point(np.where(m == 0, 1.0, m), m0, rho, gamma)
    # With (x − a, y − b) = λ (y, x), λ = offset/x and xy = 1 the squared distance is λ² (x² + y²) = offset² (1 + y⁴).
    penalty = (np.sqrt(np.abs(m)) * offset) ** 2 * (1 + y**4) + _sine_squared(m0, rho)
    return np.where(m == 0, _penalty_at_zero(m0, rho, gamma), penalty)[()]


def relu_penalty_exponent(m: ArrayLike, m0: ArrayLike, rho: ArrayLike, gamma: ArrayLike) -> Array:
    """Local exponent ∂ log r̃ / ∂ log |m|: 1 where the penalty acts like ℓ₁, 2 where it acts like ℓ₂.

    "The implicit penalty of finetuning in ReLU networks", section 1.2 (which writes ∂/∂m but reads the log-log slope).
    By the envelope theorem ∂r̃/∂m = 2 (m/u* − γ)/u*, so no numerical derivative is taken.

    Parameters, broadcasting and errors are those of `relu_penalty`. The exponent is negative where a larger feature is
    nearer to the starting point. At m = 0 it is the limit m → 0 with m of the sign of γ: 0 where r̃ stays positive,
    1 where m₀ = γ = 0 (r̃ = 2|m|), and 2 otherwise. Where r̃ = 0 at m ≠ 0 (ρ = 1, m = γ m₀) it is NaN: the one-sided
    limits are −∞ and +∞.

    Examples
    --------
    >>> relu_penalty_exponent([1e-6, 1e6], m0=1.0, rho=1.0, gamma=0.0).round(3)
    array([2.   , 1.001])
    """
    m, m0, rho, gamma = broadcast(m=m, m0=m0, rho=rho, readout=gamma)
    nonzero_m = np.where(m == 0, 1.0, m)
    y, offset = _nearest_point(nonzero_m, m0, rho, gamma)
    # The exponent is 2|m|λ / r̃ with λ = offset · y. Numerator and denominator are divided by |m| · offset, so that a
    # small r̃ does not underflow: 2y / (offset (1 + y⁴) + residue / offset), which is 0/0 only where r̃ = 0.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        residue = _sine_squared(m0, rho) / np.abs(nonzero_m)
        exponent = 2 * y / (offset * (1 + y**4) + residue / offset)
    vanishing = np.where((m0 == 0) & (gamma == 0), 1.0, 2.0)
    at_zero = np.where(_penalty_at_zero(m0, rho, gamma) > 0, 0.0, vanishing)
    return np.where(m == 0, at_zero, exponent)[()]


def stationary_points(m: ArrayLike, m0: ArrayLike, rho: ArrayLike, gamma: ArrayLike) -> Array:
    """Number of stationary points u > 0 of the squared distance that `relu_penalty` minimises, for m ≠ 0.

    They are the positive roots of equation 10, u⁴ − m₀ρ u³ + γm u − m² = 0. As in np.roots, which the paper uses, the
    roots are eigenvalues of the companion matrix. At γ = 0 exactly one is positive, by Descartes' rule of signs.
    Parameters, broadcasting and errors are those of `relu_penalty`; the result is an integer array.
    """
    # `broadcast` requires an argument named gamma to be positive, hence another name.
    m, m0, rho, gamma = broadcast(m=m, m0=m0, rho=rho, readout=gamma)
    companion = np.broadcast_to(np.eye(4, k=-1), (*m.shape, 4, 4)).copy()
    companion[..., 0, :] = np.stack([m0 * rho, np.zeros_like(m), -gamma * m, m**2], axis=-1)
    roots = np.linalg.eigvals(companion)
    return (np.isreal(roots) & (roots.real > 0)).sum(-1)


def network_penalty(first: ArrayLike, readout: ArrayLike, start: ArrayLike, start_readout: ArrayLike) -> float:
    """R̃ of what a network has learned (equation 4): the least squared distance from its start at which its units, each
    of the direction and magnitude that it has, compute the same.

    Parameters
    ----------
    first, readout : (H, D) and (H,); a unit of length 0 computes nothing in whatever direction
    start, start_readout : the same where finetuning started
    """
    first, start = np.asarray(first, dtype=float), np.asarray(start, dtype=float)
    lengths, old_lengths = np.linalg.norm(first, axis=1), np.linalg.norm(start, axis=1)
    turned = np.clip(unit_cosines(first, start), -1, 1)
    return float(relu_penalty(readout * lengths, old_lengths, turned, start_readout).sum())


def unit_cosines(first: Array, start: Array) -> Array:
    """Cosines (H,) between the input weights (H, D) of units and where they started; 1 where one has no length."""
    products = np.linalg.norm(first, axis=1) * np.linalg.norm(start, axis=1)
    return np.divide((first * start).sum(1), products, out=np.ones_like(products), where=products > 0)


def teacher_penalty(first: ArrayLike, directions: ArrayLike, coefficients: ArrayLike) -> float:
    """Penalty Σ r̃ (equation 4) of turning a pretrained network, whose readouts are 0, into its teacher.

    A pretrained unit may be recruited only by the teacher unit that is nearest to it in direction. Each teacher unit
    recruits these candidates from the smallest angle on, as many as is cheapest; all others stay as they are, at no
    cost. Other assignments may cost a little less: according to the dual problem (`least_penalty`) at most 1 % if
    teacher units are orthogonal and as large as those of pretraining, but on average a fifth if they are a hundredth as
    large and need few units.

    Parameters
    ----------
    first : (H, D) input weights after pretraining; near 0 they cost 2 Σ |c|, the penalty of training from scratch
    directions, coefficients : (K, D) unit vectors and (K,) coefficients c of the teacher's units
    """
    first, directions, coefficients = (np.asarray(a, dtype=float) for a in (first, directions, coefficients))
    lengths = np.linalg.norm(first, axis=1)
    projections = first @ directions.T
    nearest = projections.argmax(axis=1)
    total = 0.0
    for k, coefficient in enumerate(coefficients):
        candidates = np.flatnonzero((nearest == k) & (projections[:, k] > 0))
        if len(candidates):
            candidates = candidates[np.argsort(-projections[candidates, k] / lengths[candidates])]
            along = projections[candidates, k] ** 2
            # For the first 1, 2, … of them: the penalty of their joint unit, which need not turn (see the module), and
            # the cost of turning each of them.
            joint = relu_penalty(coefficient, np.sqrt(np.cumsum(along)), 1.0, 0.0)
            total += (joint + np.cumsum(lengths[candidates] ** 2 - along)).min()
        else:  # without candidates, the one unit that is cheapest to recruit, wherever it points
            cosines = np.clip(projections[:, k] / np.where(lengths > 0, lengths, 1.0), -1, 1)
            total += relu_penalty(coefficient, lengths, cosines, 0.0).min()
    return float(total)


def paired_penalty(directions: ArrayLike, coefficients: ArrayLike, auxiliary: ArrayLike, learned: ArrayLike) -> float:
    """Penalty Σ r̃ of the teacher if each of its units takes over the auxiliary unit nearest in direction (section 1.2).

    The paper's predictions assume this: after pretraining the network has one unit for each auxiliary unit, with input
    weights of norm √|m_aux| and readout 0. Above 2 Σ |c|, units that start at 0 would be cheaper.

    Parameters
    ----------
    directions, coefficients : (K, D) unit vectors and (K,) coefficients c of the teacher's units
    auxiliary, learned : (J, D) unit vectors and (J,) coefficients m_aux of the auxiliary teacher's units
    """
    cosines = np.asarray(directions, dtype=float) @ np.asarray(auxiliary, dtype=float).T
    nearest = cosines.argmax(axis=1)
    norms = np.sqrt(np.abs(np.asarray(learned, dtype=float)))[nearest]
    return float(relu_penalty(coefficients, norms, np.clip(cosines.max(axis=1), -1, 1), 0.0).sum())


def _sine_squared(m0: Array, rho: Array) -> Array:
    """The part m₀²(1 − ρ²) of the distance that no u removes, without cancellation at ρ near ±1."""
    return m0**2 * (1 - rho) * (1 + rho)


def _penalty_at_zero(m0: Array, rho: Array, gamma: Array) -> Array:
    return np.minimum(m0**2, gamma**2 + _sine_squared(m0, np.maximum(rho, 0)))


def _nearest_point(m: Array, m0: Array, rho: Array, gamma: Array) -> tuple[Array, Array]:
    """(y, y − b) of the point (x, y) of the hyperbola nearest to (a, b), exchanged so that a ≥ b and hence x ≥ 1.

    As (x − a, y − b) = λ (y, x) is normal to the hyperbola, y − b = λx, and ∂r̃/∂|m| = 2λ.
    """
    scale, projection = np.sqrt(np.abs(m)), m0 * rho
    first, second = projection / scale, np.sign(m) * gamma / scale
    a, b = np.maximum(first, second), np.minimum(first, second)
    blocks = (slice(start, start + _BLOCK) for start in range(0, a.size, _BLOCK))
    roots = [_largest_root(a.ravel()[block], b.ravel()[block]) for block in blocks]
    x = np.concatenate([np.zeros(0), *roots]).reshape(a.shape)
    y = 1 / x
    # y − b cancels where the unit hardly moves. The stationarity condition turns it into (1 − ab) / (x + b y²), whose
    # only difference is that of the data, taken before the division by |m|. For b < 0 nothing cancels.
    start_gap = (m - gamma * projection) * np.sign(m) / scale
    denominator = np.where(b < 0, 1.0, scale * (x + b * y**2))
    return y, np.where(b < 0, y - b, start_gap / denominator)


def _largest_root(a: Array, b: Array) -> Array:
    """The root x ≥ 1 of x⁴ − a x³ + b x − 1 for a ≥ b, to relative rounding error where it is simple.

    On x ≥ max(1, a/2) the quartic is convex, starts at or below zero and has this one root, so Newton's iteration from
    any bound above it falls to it monotonically, without safeguards.
    """
    excess = np.maximum(1 - b, 0)  # x²(x − a) = 1/x − b is at most 1 − b for x ≥ 1
    x = np.maximum(a, 0) + np.minimum(np.cbrt(excess), np.sqrt(excess / np.maximum(-a, 1)))
    for _ in range(_NEWTON_STEPS):
        # Divided by x³, so that no power overflows.
        y = 1 / x
        y_squared = y * y
        value = x - a + (b - y) * y_squared
        slope = 4 - 3 * a * y + b * y_squared * y
        step = value / np.maximum(slope, 1e-30)
        # Only rounding makes a step point upwards, or the slope vanish (at the cusp).
        moving = step > _TOLERANCE * x
        if not moving.any():
            break
        x = np.where(moving, np.maximum(x - step, 1), x)
    return x
