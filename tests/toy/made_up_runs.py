"""Runs as claims ask for, with values that a test makes up."""

from itertools import product
from pathlib import Path

import numpy as np
import xarray as xr

from carryover.claims.support import checks
from carryover.config import claims, plugins
from carryover.statistics.intervals import student

SEEDS = range(6)


OPPOSITE = {"holds": "fails", "fails": "holds", "undecided": "undecided"}


def size(effect, seed):
    """An effect that is that large on average, by seed."""
    return effect + 0.5 * (-1) ** seed


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


def checks_of(name, data, **options):
    """The dataset of a claims plug-in, by its name, and its data."""
    found = plugins.call("claims", name, data, **options)
    return checks.table(found, claims.definitions(name, found))


def group(values, data="toy/risk", portable="rounding", estimate=student, claim=None):
    """A group of checks {name: values} that statistics lie above 0, of one claim or each its own, as `check_claims`
    writes it."""
    said = {
        name: {
            "statement": f"{name} is above 0",
            "measured": "number",
            "claimed_low": 0.0,
            "claimed_high": np.inf,
            "headline": claim or name,
            "sentence": "it is so" if claim else f"{name} is above 0",
            "headline_paper": "Paper" if claim else claims.OWN,
            "headline_section": "",
        }
        for name in values
    }
    return checks.table(checks.checks(values, estimate), said, [Path(f"{data}.nc")], portable)
