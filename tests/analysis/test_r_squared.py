"""R² of errors and bounds over pairs of tasks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import linregress

from carryover.analysis import r_squared
from carryover.errors import UserError
from toy.bound_runs import SEEDS, SIZES, made

TABLE = Path(__file__).resolve().parents[2] / "resources/published/linear-teachers-table1.csv"


def test_it_is_the_share_of_variance_that_a_line_explains():
    data = made()
    found = r_squared.r_squared(data)
    assert len(found) == 2 * len(SEEDS) * len(SIZES)
    for cutoff, seed, samples in ((0.0, 2, 10), (0.01, 4, 20)):
        keep = (data["cutoff"] == cutoff) & (data["seed"] == seed) & (data["samples"] == samples)
        group = data.isel(run=keep.values)
        for bound in r_squared.BOUNDS:
            line = linregress(group[bound], group["risk_final"])
            assert found.loc[(cutoff, seed, samples), bound] == pytest.approx(line.rvalue**2)


def test_it_knows_no_scale_and_no_sign():
    data = made()
    changed = data.assign(covariance=5 - 3 * data["covariance"])
    pd.testing.assert_frame_equal(r_squared.r_squared(changed), r_squared.r_squared(data))


def test_single_tasks_are_left_out():
    data, alone = made(), made(seed=1, protocol="single_task")
    both = xr.concat([alone, data], dim="run")
    pd.testing.assert_frame_equal(r_squared.r_squared(both), r_squared.r_squared(data))


def test_a_constant_error_has_none():
    data = made()
    assert r_squared.r_squared(data.assign(risk_final=0 * data["risk_final"])).isna().all(axis=None)


@pytest.mark.parametrize("told", [{"pairs": 2}, {"protocol": "single_task"}])
def test_two_pairs_are_too_few(told):
    with pytest.raises(UserError, match="R² needs 3 pairs of tasks or more that were finetuned: raise pairs"):
        r_squared.r_squared(made(**told))


def test_the_published_values_are_those_of_the_paper():
    table = pd.read_csv(TABLE)
    found = {bound: r_squared.published(table, bound) for bound in r_squared.BOUNDS}
    assert all(values.index.tolist() == [10, 15, 20, 25, 30] for pair in found.values() for values in pair)
    np.testing.assert_array_equal(found["distance"][0], [0.69, 0.68, 0.66, 0.64, 0.62])
    np.testing.assert_array_equal(found["benign_overfitting"][0], [0.73, 0.75, 0.74, 0.71, 0.67])
    np.testing.assert_array_equal(found["covariance"], [[0.86, 0.89, 0.84, 0.75, 0.69], [0.02, 0.02, 0.02, 0.01, 0.02]])
