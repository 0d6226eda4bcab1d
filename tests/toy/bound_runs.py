"""Collected datasets of errors and bounds in which R² is known by construction."""

import numpy as np
import xarray as xr

SEEDS, SIZES = range(5), (10, 20)
NOISE = {"distance": 0.8, "benign_overfitting": 0.4, "covariance": 0.1}


def made(noise=None, estimators=("least_squares", "ridge_0.01"), pairs=20, seed=0, protocol="finetuning"):
    """Bounds that are the error plus `noise` times what is as large as the error."""
    rng = np.random.default_rng(seed)
    names = ("estimator", "seed", "pair", "samples")
    grid = [axis.ravel() for axis in np.meshgrid(np.array(estimators), SEEDS, np.arange(pairs), SIZES, indexing="ij")]
    error = rng.standard_normal(len(grid[0]))
    variables = {"risk_final": error}
    for name, size in (NOISE if noise is None else noise).items():
        variables[name] = 3 + 7 * (error + size * rng.standard_normal(len(error)))
    coords = dict(zip(names, grid, strict=True)) | {"protocol": np.full(len(error), protocol)}
    variables["covariance_top"] = np.random.default_rng(seed + 1).standard_normal(len(error))
    coords["pixels"] = np.full(len(error), "raw")
    four = np.array([rng.choice(10, 4, replace=False) for _ in range(pairs)])[coords["pair"]]
    for kind, classes in (("source", four[:, :2]), ("target", four[:, 2:])):
        coords[f"{kind}_classes"] = np.array([f"{one} {other}" for one, other in classes])
    return xr.Dataset(
        {name: ("run", values) for name, values in variables.items()},
        coords={name: ("run", values) for name, values in coords.items()},
    )
