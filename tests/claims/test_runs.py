"""Runs are found by their coordinates, paired by seed, and left out where their training was not done."""

import numpy as np
import pytest
import xarray as xr

from carryover.claims.support.runs import Runs, common_sizes
from carryover.errors import UserError
from toy.made_up_runs import SEEDS
from toy.relu_effects import dataset
from toy.relu_runs import nesting


def test_a_network_is_done_where_its_loss_is_small_or_has_reached_its_tolerance():
    risk, loss, converged = [1.0, 1.0, 1.0, 1.0], [0.09, 0.11, 0.11, np.nan], [0, 0, 1, 0]
    data = xr.Dataset(
        {"risk_final": ("run", risk), "loss": ("run", loss), "converged": ("run", converged)},
        coords={"seed": ("run", range(4))},
    )
    np.testing.assert_array_equal(Runs("risk", data).risks(trained=True), [0, np.nan, 0, np.nan])
    np.testing.assert_array_equal(Runs("risk", data).risks(), 0)


def test_several_runs_a_seed_and_none_are_refused_with_what_they_are():
    runs = Runs("risk", nesting(1.0)["risk"]).where(protocol="finetuning", main_features=1, overlap=1.0)
    with pytest.raises(UserError, match="one run a seed of the role risk; several differ in rescale"):
        runs.by_seed("risk_final", samples=64)
    with pytest.raises(UserError, match="runs of one rescale are needed here, not of"):
        runs.only("rescale")
    with pytest.raises(UserError, match=r"of the data of the role risk: no run has rescale=3\.0: rescale is "):
        runs.where(rescale=3.0)


def test_the_slope_over_doublings_is_that_of_least_squares():
    sizes = [16, 64, 100, 1024]
    data = dataset(lambda seed, samples: {"x": np.sin(7.0 * seed + samples)}, {"samples": sizes})
    slopes = Runs("role", data).per_doubling("x")
    for seed in SEEDS:
        expected = np.polyfit(np.log2(sizes), np.sin(7.0 * seed + np.array(sizes)), 1)[0]
        assert slopes[seed] == pytest.approx(expected)


def test_groups_are_compared_at_sizes_that_all_of_them_have():
    sizes = {"a": [16, 32, 64], "b": [32, 64, 128], "c": [8]}
    grids = ({"protocol": [name], "samples": found} for name, found in sizes.items())
    runs = Runs("role", dataset(lambda seed, **point: {"x": 0.0}, *grids))
    a, b, c = (runs.where(protocol=name) for name in sizes)
    assert common_sizes(a, b) == [32, 64]
    with pytest.raises(UserError, match="does the role role have all that this claim compares"):
        common_sizes(a, c)
