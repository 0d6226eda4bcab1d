"""Runs are found by their coordinates, paired by seed, and left out where their training was not done."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import stats

from carryover.analysis.run_tables import Runs, common, only
from carryover.errors import UserError
from toy.made_up_runs import SEEDS
from toy.relu_runs import dataset, nesting


def test_a_network_is_done_where_its_loss_is_small_or_has_reached_its_tolerance():
    risk, loss, converged = [1.0, 1.0, 1.0, 1.0], [0.09, 0.11, 0.11, np.nan], [0, 0, 1, 0]
    data = xr.Dataset(
        {"risk_final": ("run", risk), "loss": ("run", loss), "converged": ("run", converged)},
        coords={"seed": ("run", range(4))},
    )
    plain, done = Runs("risk", data).risks_by_completion()
    np.testing.assert_array_equal(plain, 0)
    np.testing.assert_array_equal(done, [0, np.nan, 0, np.nan])


def test_several_runs_a_seed_and_none_are_refused_with_what_they_are():
    runs = Runs("risk", nesting(1.0)["risk"]).where(protocol="finetuning", main_features=1, overlap=1.0)
    with pytest.raises(UserError, match="one run a seed of the role risk; several differ in rescale"):
        runs.where(samples=64).table("risk_final")
    with pytest.raises(UserError, match="runs of one rescale are needed here, not of"):
        only(runs.data, "rescale")
    with pytest.raises(UserError, match=r"of the data of the role risk: no run has rescale=3\.0: rescale is "):
        runs.where(rescale=3.0)


def test_the_slope_over_doublings_is_that_of_least_squares():
    sizes = [16, 64, 100, 1024]
    data = dataset(lambda seed, samples: {"x": np.sin(7.0 * seed + samples)}, {"samples": sizes})
    slopes = Runs("role", data).per_doubling("x")
    for seed in SEEDS:
        expected = stats.linregress(np.log2(sizes), np.sin(7.0 * seed + np.array(sizes))).slope
        assert slopes[seed] == pytest.approx(expected)


def test_tables_are_compared_at_the_columns_that_all_of_them_have():
    tables = [pd.DataFrame(1.0, range(3), pd.Index(sizes, name="samples")) for sizes in ([16, 32, 64], [32, 64, 128])]
    assert [table.columns.tolist() for table in common(*tables)] == [[32, 64]] * 2
    with pytest.raises(UserError, match="have no samples in common"):
        common(*tables, tables[0][[16]])
