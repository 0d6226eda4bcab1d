"""Distances of networks from the exact limit of the same run."""

import numpy as np
import xarray as xr

from carryover.claims.agreement import distances


def test_distances_are_relative_to_the_exact_limit_of_the_same_run():
    names = {"protocol": ["finetuning"] * 4, "samples": [4] * 4, "overlap": [1.0] * 4,
             "main_features": [2] * 4, "rescale": [1.0] * 4, "seed": [0, 1, 1, 0],
             "solver": ["exact", "exact", "flow", "flow"]}  # fmt: skip
    beta = [[3.0, 4.0], [0.0, 2.0], [0.0, 1.0], [3.0, 4.5]]
    data = xr.Dataset({"coefficients": (("run", "input"), beta)}, coords={k: ("run", v) for k, v in names.items()})
    found = distances(data)
    assert found["seed"].values.tolist() == [1, 0]
    np.testing.assert_allclose(found["distance"], [0.5, 0.1])
