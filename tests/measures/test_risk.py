"""What training came to is handed on with its labels and the coordinates of its runs, and nothing else."""

import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.measures import risk

RUNS = 3
NAMES = {"risk_final", "risk_best", "loss", "evaluations", "converged"}


@pytest.fixture
def data():
    named = {"long_name": "made for a test", "units": "1"}
    per_run = {
        "risk_final": [0.2, 0.4, 0.3], "risk_best": [0.1, np.nan, 0.3], "loss": [1e-9] * RUNS,
        "evaluations": [7, 0, 9], "converged": np.ones(RUNS, np.int8), "time": [1.0] * RUNS,
    }  # fmt: skip
    return xr.Dataset(
        {
            "coefficients": (("run", "output", "input"), np.ones((RUNS, 2, 6)), named),
            **{name: ("run", values, {**named, "long_name": name}) for name, values in per_run.items()},
        },
        coords={"seed": ("run", np.arange(RUNS), named), "output": ("output", ["main", "auxiliary"], named)},
    )


def test_risks_are_handed_on_with_their_labels(data):
    measured = risk.measure(data, model_of("measures", "risk")())
    assert set(measured.data_vars) == NAMES
    assert set(measured.coords) == {"seed"}
    for name, variable in measured.variables.items():
        xr.testing.assert_identical(variable, data[name].variable)
