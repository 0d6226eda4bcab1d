"""Curves and coefficients are handed on as they are, with the coordinates of their runs."""

import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.measures import coefficients, trajectory
from carryover.provenance import store

CURVES = ("time", "loss_curve", "risk_curve", "effective_features_curve")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    named = {"long_name": "made for a test", "units": "1"}
    curves = rng.random((len(CURVES), 2, 4))
    curves[:, 1, 2:] = np.nan
    return xr.Dataset(
        {
            **{name: (("run", "checkpoint"), values, named) for name, values in zip(CURVES, curves, strict=True)},
            "coefficients": (("run", "output", "input"), rng.random((2, 2, 5)), named),
            "teacher": (("run", "input"), rng.random((2, 5)), named),
            "loss": ("run", [1.0, 2.0], named),
        },
        coords={"seed": ("run", [0, 1], named), "output": ("output", ["main", "auxiliary"], named)},
    )


def test_curves_come_with_numbered_checkpoints(data, tmp_path):
    measured = trajectory.measure(data, model_of("measures", "trajectory")())
    assert set(measured.data_vars) == set(CURVES)
    assert set(measured.coords) == {"seed", "checkpoint"}
    assert measured["checkpoint"].values.tolist() == [0, 1, 2, 3]
    for name in CURVES:
        xr.testing.assert_identical(measured[name].variable, data[name].variable)
    store.save(measured, tmp_path / "curves.nc")


def test_coefficients_are_those_of_the_main_readout(data, tmp_path):
    measured = coefficients.measure(data, model_of("measures", "coefficients")())
    assert set(measured.data_vars) == {"coefficients", "teacher"}
    assert measured["coefficients"].dims == ("run", "input")
    np.testing.assert_array_equal(measured["coefficients"], data["coefficients"][:, 0])
    assert set(measured.coords) == {"seed"}
    store.save(measured, tmp_path / "coefficients.nc")
