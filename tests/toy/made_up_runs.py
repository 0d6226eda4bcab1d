"""Runs as claims ask for, with values that a test makes up."""

from itertools import product

import numpy as np
import xarray as xr

SEEDS = range(6)


def dataset(values, *grids, along="input"):
    """Runs of every seed and every point of the grids, in no order; `values(seed, **point)` gives their variables.

    A variable that is no number has the dimensions `along` besides.
    """
    points = [
        {"seed": seed} | dict(zip(grid, point, strict=True))
        for grid in grids
        for point in product(*grid.values())
        for seed in SEEDS
    ]
    np.random.default_rng(0).shuffle(points)
    rows = [values(**point) for point in points]
    variables = {
        name: (
            ("run", *([along] if isinstance(along, str) else along))[: 1 + np.ndim(found)],
            np.array([row[name] for row in rows]),
        )
        for name, found in rows[0].items()
    }
    return xr.Dataset(variables, {name: ("run", [point[name] for point in points]) for name in points[0]})
