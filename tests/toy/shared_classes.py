"""Errors and bounds of pairs of tasks that share classes, with correlations that are known, as `pair_table`."""

from itertools import permutations

import numpy as np
import xarray as xr

from carryover.analysis.image_pairs import BOUNDS

POSSIBLE = np.array([four for four in permutations(range(10), 4) if four[0] < four[1]])


def table(rng, sizes, correlation, pairs=None, copies=1):
    """All pairs, or so many that are drawn; `copies` independent ones stand along `estimator`.

    The error is a sum of what each class does in its role, what each set of two classes does, and what a pair alone
    does, of these `sizes`. Every bound has the same correlation with it, in all three.
    """
    four = POSSIBLE if pairs is None else POSSIBLE[rng.choice(len(POSSIBLE), pairs, replace=False)]
    parts = np.array([_effects(rng, four, sizes) for _ in range(copies * (1 + len(BOUNDS)))])
    error, *others = parts.reshape(1 + len(BOUNDS), copies, 1, 1, len(four))
    bounds = np.stack([correlation * error + np.sqrt(1 - correlation**2) * other for other in others])
    order = ["estimator", "seed", "samples", "pair"]
    coords = {"bound": list(BOUNDS), "label": [f"{label}" for label in range(10)], "samples": [10]}
    has = (four[:, :, None] == np.arange(10)).any(1)
    variables = {"error": (order, error), "bounds": (["bound", *order], bounds), "has": (["pair", "label"], has)}
    return xr.Dataset(variables, coords | {"estimator": np.arange(copies)})


def _effects(rng, four, sizes):
    classes, sets = rng.standard_normal((2, 10)), rng.standard_normal((2, 10, 10))
    sets = (sets + sets.swapaxes(1, 2)) / np.sqrt(2)
    (a, b, c, d), (alone, together, own) = four.T, sizes
    effects = [classes[0, a] + classes[0, b] + classes[1, c] + classes[1, d], sets[0, a, b] + sets[1, c, d]]
    return alone * effects[0] + together * effects[1] + own * rng.standard_normal(len(four))
