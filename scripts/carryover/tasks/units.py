"""ReLU teachers f(x) = Σ_k c_k relu(v_k · x): directions and coefficients of an auxiliary and of a main task.

Each main unit belongs to an auxiliary one, at a cosine: 1 where it is shared, 0 where it is new. So tasks of one seed
differ in nothing but what is asked, and a nested main task uses the first of the auxiliary units.
"""

import numpy as np

from carryover.errors import UserError
from carryover.tasks.sparse import whole_share


def cosines(units, overlap, correlation, listed=""):
    """(units,) cosines between main units and their auxiliary ones: `correlation` for the first share `overlap`, 0 for
    the rest. If overlap is None, the text `listed` gives them, such as "1 1 0.9 0"; UserError if it is invalid."""
    if overlap is not None:
        return np.where(np.arange(units) < whole_share(overlap, units), correlation, 0.0)
    try:
        values = np.array([float(word) for word in listed.split()])
    except ValueError:
        values = np.array([np.nan])
    if len(values) != units or not (np.abs(values) <= 1).all():
        raise UserError(f"unit_correlations {listed!r} must be one number from -1 to 1 for each of {units} main units.")
    return values


def teachers(rng, dimension, auxiliary_units, main_cosines, kind):
    """Directions of both tasks, unit vectors (auxiliary units, D) and (main units, D), uniformly distributed.

    Main unit k is ρ_k times auxiliary unit k plus √(1 − ρ_k²) times a new one, orthogonal to it; a new one is drawn for
    each k, used or not. Auxiliary and new ones are orthonormal; of the kind "frames" they may be more than D, and each
    D of them are orthonormal. Raises UserError where a main unit has no auxiliary one, or there is no room.
    """
    paired = np.flatnonzero(main_cosines)
    if len(paired) and paired[-1] >= auxiliary_units:
        raise UserError(
            f"main unit {paired[-1] + 1} correlates with an auxiliary one, but there are only {auxiliary_units}."
        )
    count = auxiliary_units + max((k + 1 for k, cosine in enumerate(main_cosines) if abs(cosine) < 1), default=0)
    if kind == "orthogonal" and count > dimension:
        raise UserError(
            f"{count} orthogonal teacher units do not fit into {dimension} input dimensions: "
            "raise dimension, ask for fewer units, or choose directions frames."
        )
    frames = [np.zeros((0, dimension))]
    for _ in range(0, count, dimension):  # whole frames, so that more units leave the first ones alone
        basis, triangle = np.linalg.qr(rng.standard_normal((dimension, dimension)))
        frames.append((basis * np.sign(np.diag(triangle))).T)  # without the signs, rotations are not uniform
    auxiliary, new = np.split(np.concatenate(frames)[:count], [auxiliary_units])
    main = np.empty((len(main_cosines), dimension))
    for k, cosine in enumerate(main_cosines):
        if abs(cosine) == 1:
            main[k] = cosine * auxiliary[k]
        elif cosine == 0:
            main[k] = new[k]
        else:
            rest = new[k] - (new[k] @ auxiliary[k]) * auxiliary[k]  # units of two frames are not orthogonal
            main[k] = cosine * auxiliary[k] + np.sqrt(1 - cosine**2) * rest / np.linalg.norm(rest)
    return auxiliary, main


def signs(rng, units, kind="paired"):
    """(units,) signs ±1: independent for the kind "random", or else opposite in each pair of neighbouring units.

    With more units, the first ones keep their signs. Pairs are balanced. If nearly all signs of a teacher were equal, a
    network that starts from small weights could lose all its units of the rarer sign before it has learned what they
    are for, and would end in a local minimum.
    """
    if kind == "random":
        return rng.choice([-1.0, 1.0], units)
    pairs = rng.choice([-1.0, 1.0], -(-units // 2))
    return np.stack([pairs, -pairs], axis=1).ravel()[:units]
