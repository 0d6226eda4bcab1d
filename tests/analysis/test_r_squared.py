"""R² of errors and bounds over pairs of tasks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import linregress

from carryover.analysis import r_squared
from carryover.errors import UserError
from toy.bound_runs import SEEDS, SIZES, made
from toy.shared_classes import table

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


def test_a_constant_error_has_none():
    data = made()
    for value in (0.0, 0.1, 0.7):  # of 20 of which the mean is rounded
        same = data.assign(risk_final=0 * data["risk_final"] + value)
        assert r_squared.r_squared(same).isna().all(axis=None)
    assert np.isnan(r_squared.squared_correlation(np.full(20, 0.7), np.full(20, 0.77)))


def test_a_run_that_is_missing_is_named():
    data = made()
    gone = (data["seed"] == 3) & (data["pair"] == 4) & (data["samples"] == 20) & (data["cutoff"] == 0.01)
    with pytest.raises(UserError, match=r"there is no run of cutoff 0\.01, seed 3, samples 20, pair 4"):
        r_squared.arranged(data.isel(run=~gone.values))


@pytest.mark.parametrize("kind", ["error", "bound"])
def test_a_seed_without_r_squared_is_not_left_out_silently(kind):
    data = made(pairs=200)
    odd = ((data["seed"] == 3) & (data["samples"] == 20) & (data["cutoff"] == 0.01)).values
    if kind == "error":  # all pairs have the same
        data["risk_final"] = data["risk_final"].where(~odd, 0.25)
    else:
        data["covariance"][np.flatnonzero(odd)[0]] = np.inf
    table = r_squared.arranged(data)
    for found in (r_squared.without_each(table), r_squared.first_shares(table)):
        lacking = np.isnan(found).sel(bound="covariance").isel(left_out=0)
        assert lacking.sel(cutoff=0.01, samples=20)
        assert lacking.sum() == 1


def test_each_class_in_turn_is_left_out_with_its_pairs():
    data = made()
    found = r_squared.without_each(r_squared.arranged(data))
    classes = (data["source_classes"].astype(object) + " " + data["target_classes"].astype(object)).values
    assert found.sizes["left_out"] == 11
    for place, label in enumerate([None, *map(str, range(10))]):
        keep = np.array([label not in four.split() for four in classes])
        kept = r_squared.r_squared(data.isel(run=keep)).groupby(["cutoff", "samples"]).mean()
        for bound in r_squared.BOUNDS:
            mine = found.isel(left_out=place).sel(bound=bound).transpose("cutoff", "samples").values.ravel()
            np.testing.assert_allclose(mine, kept[bound].sort_index())


def test_shares_of_sets_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    of = table(rng, (0.5, 0.5, 0.5), 0.6, pairs=300)
    of["bounds"].loc[{"bound": "covariance"}] += 0.1 * of["error"]
    found = r_squared.first_shares(of).squeeze(["cutoff", "samples"], drop=True)
    for place in (0, 4):
        part = of if place == 0 else of.isel(pair=~of["has"].values[:, place - 1])
        error, bounds = part["error"].values.ravel(), part["bounds"].values.reshape(3, -1)
        firsts = np.zeros(3)
        for _ in range(3000):
            chosen = rng.permutation(len(error))[:20]
            firsts[np.argmax([np.corrcoef(error[chosen], bound[chosen])[0, 1] ** 2 for bound in bounds])] += 1 / 3000
        np.testing.assert_allclose(found.isel(left_out=place), firsts, atol=0.04)  # three of its standard errors


def test_the_published_values_are_those_of_the_paper():
    table = pd.read_csv(TABLE)
    found = {bound: r_squared.published(table, bound) for bound in r_squared.BOUNDS}
    assert all(values.index.tolist() == [10, 15, 20, 25, 30] for pair in found.values() for values in pair)
    np.testing.assert_array_equal(found["distance"][0], [0.69, 0.68, 0.66, 0.64, 0.62])
    np.testing.assert_array_equal(found["benign_overfitting"][0], [0.73, 0.75, 0.74, 0.71, 0.67])
    np.testing.assert_array_equal(found["covariance"], [[0.86, 0.89, 0.84, 0.75, 0.69], [0.02, 0.02, 0.02, 0.01, 0.02]])
