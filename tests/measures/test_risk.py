"""The population risk is the mean squared error on a large test set."""

import numpy as np
import pytest
import xarray as xr

from carryover.measures import risk

RUNS, D = 3, 6


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    named = {"long_name": "made for a test", "units": "1"}
    per_run = {
        "risk_best": [0.1, np.nan, 0.3], "loss": [1e-9] * RUNS, "evaluations": [7, 0, 9],
        "converged": np.ones(RUNS, np.int8), "time": [1.0] * RUNS,
    }  # fmt: skip
    return xr.Dataset(
        {
            "coefficients": (("run", "output", "input"), rng.standard_normal((RUNS, 2, D)), named),
            "teacher": (("run", "input"), rng.standard_normal((RUNS, D)), named),
            **{name: ("run", values, named) for name, values in per_run.items()},
        },
        coords={"seed": ("run", np.arange(RUNS), named), "output": ("output", ["main", "auxiliary"], named)},
    )


def test_final_risk_is_the_error_of_the_main_readout_on_the_sphere(data):
    measured = risk.measure(data, risk.Parameters())["risk_final"]
    normal = np.random.default_rng(1).standard_normal((200_000, D))
    x = np.sqrt(D) * normal / np.sqrt((normal**2).sum(1))[:, None]
    for run in range(RUNS):
        errors = (x @ data["coefficients"].values[run, 0] - x @ data["teacher"].values[run]) ** 2
        assert abs(errors.mean() - float(measured[run])) < 4 * errors.std() / np.sqrt(len(x))


def test_a_perfect_network_has_no_risk(data):
    data["coefficients"][:, 0] = data["teacher"]
    assert np.all(risk.measure(data, risk.Parameters())["risk_final"] == 0)


def test_the_rest_is_handed_on_with_its_labels(data):
    measured = risk.measure(data, risk.Parameters())
    assert set(measured.data_vars) == {"risk_final", "risk_best", "loss", "evaluations", "converged"}
    assert set(measured.coords) == {"seed"}
    for name, variable in measured.variables.items():
        assert variable.dims == ("run",)
        assert variable.attrs["units"] == "1"
        assert variable.attrs["long_name"]
        if name != "risk_final":
            xr.testing.assert_identical(variable, data[name].variable)
