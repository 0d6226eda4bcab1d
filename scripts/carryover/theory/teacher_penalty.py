"""What it costs a pretrained ReLU network to compute what it does, or to become its new teacher, as "The implicit
penalty of finetuning in ReLU networks" counts it: the sum of r̃ over its units (equation 4), for the teacher at its
smallest over the networks that are the teacher.

Units h with input weights w₀ₕ and readouts 0 take up parts mₕ of the teacher's unit v, of coefficient c = Σ mₕ. With
pₕ = ⟨w₀ₕ, v⟩ > 0 the stationarity of equation 9 gives u = pₕ/(1 − q²) and m = q u², where q = |w⁽²⁾|/u is between 0
and 1 and ∂r̃/∂m = 2q. So where all recruited units pay the same for a little more of m, they have one q, and

    Σ mₕ = q/(1 − q²)² Σ pₕ²,        Σ r̃ = (q² + q⁴)/(1 − q²)² Σ pₕ² + Σ (‖w₀ₕ‖² − pₕ²).

The last sum is what it costs to turn the units, whatever they take up: so few do, those nearest to v in direction.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from carryover.theory.penalty import relu_penalty

Array = NDArray[np.float64]
_HALVINGS = 60  # of an interval of length 1


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
    products = lengths * old_lengths
    cosines = np.divide((first * start).sum(1), products, out=np.ones_like(products), where=products > 0)
    return float(relu_penalty(readout * lengths, old_lengths, np.clip(cosines, -1, 1), start_readout).sum())


def teacher_penalty(first: ArrayLike, directions: ArrayLike, coefficients: ArrayLike) -> float:
    """Σ r̃ (equation 4) of the cheapest network that consists of the teacher's units, after pretraining.

    A unit of the network is recruited by the unit of the teacher that is nearest in direction, if by any, the nearest
    ones first, as many as is cheapest; all others stay, which costs nothing since their readouts are 0. Other ways may
    be a little cheaper. By the dual problem none is by more than 1 % where teacher units are orthogonal and as large as
    those of pretraining; where they are a hundredth as large and need few units, a fifth may be saved on average.

    Parameters
    ----------
    first : (H, D) input weights after pretraining; near 0 they cost 2 Σ |c|, the penalty of training from scratch
    directions, coefficients : (K, D) unit vectors and (K,) of the teacher; ValueError for other shapes
    """
    first, directions, coefficients = (np.asarray(a, dtype=float) for a in (first, directions, coefficients))
    if first.ndim != 2 or directions.shape != (len(coefficients), first.shape[1]):
        raise ValueError(
            "first, directions and coefficients must have the shapes (H, D), (K, D) and (K,), "
            f"got {first.shape}, {directions.shape} and {coefficients.shape}"
        )
    lengths = np.linalg.norm(first, axis=1)
    projections = first @ directions.T
    nearest = projections.argmax(axis=1)
    total = 0.0
    for k, coefficient in enumerate(np.abs(coefficients)):
        own = (nearest == k) & (projections[:, k] > 0)
        if own.any():
            total += _of_one_unit(lengths[own], projections[own, k], coefficient)
        else:  # the best of those that point elsewhere, which is a turn of a right angle or more
            cosines = np.clip(projections[:, k] / np.where(lengths > 0, lengths, 1.0), -1, 1)
            total += relu_penalty(coefficient, lengths, cosines, 0.0).min()
    return float(total)


def paired_penalty(directions: ArrayLike, coefficients: ArrayLike, auxiliary: ArrayLike, learned: ArrayLike) -> float:
    """Σ r̃ of as many units as the teacher has, each taken from the auxiliary unit nearest in direction (section 1.2).

    This is what the paper predicts by: pretraining has left one unit of norm √|m_aux| for each auxiliary one, and the
    readout is 0. Above 2 Σ |c|, new units would be cheaper.

    Parameters
    ----------
    directions, coefficients : (K, D) of length 1 and (K,) of the teacher
    auxiliary, learned : (J, D) of length 1 and (J,) of the auxiliary teacher
    """
    cosines = np.asarray(directions, dtype=float) @ np.asarray(auxiliary, dtype=float).T
    nearest = cosines.argmax(axis=1)
    norms = np.sqrt(np.abs(np.asarray(learned, dtype=float)))[nearest]
    return float(relu_penalty(coefficients, norms, np.clip(cosines.max(axis=1), -1, 1), 0.0).sum())


def _of_one_unit(lengths: Array, projections: Array, coefficient: float) -> float:
    """The same for one unit of the teacher and those of the network that it may recruit, of positive projections."""
    order = np.argsort(-projections / lengths)
    squares, norms = projections[order] ** 2, lengths[order] ** 2
    sums = np.cumsum(squares)
    # q in [0, 1) with q/(1 − q²)² = c/Σ p², by halving, which holds from sizes near 0 to huge ones
    size = coefficient / sums
    low, high = np.zeros_like(size), np.ones_like(size)
    for _ in range(_HALVINGS):
        q = (low + high) / 2
        above = q > size * (1 - q**2) ** 2
        low, high = np.where(above, low, q), np.where(above, q, high)
    return float((sums * (low**2 + low**4) / (1 - low**2) ** 2 + np.cumsum(norms - squares)).min())
