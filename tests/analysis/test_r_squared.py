"""R² of errors and bounds over pairs of tasks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import linregress

from carryover.analysis import r_squared
from carryover.errors import UserError
from toy.bound_runs import NOISE, SEEDS, SIZES, made
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
    for value in (0.0, 0.1, 0.7):  # of 20 of which the mean is rounded
        same = data.assign(risk_final=0 * data["risk_final"] + value)
        assert r_squared.r_squared(same).isna().all(axis=None)
    assert np.isnan(r_squared.squared_correlation(np.full(20, 0.7), np.full(20, 0.77)))


@pytest.mark.parametrize("told", [{"pairs": 2}, {"protocol": "single_task"}])
def test_two_pairs_are_too_few(told):
    with pytest.raises(UserError, match="R² needs 3 pairs of tasks or more that were finetuned: raise pairs"):
        r_squared.r_squared(made(**told))


def test_several_runs_of_a_pair_are_refused_by_what_they_differ_in():
    data = made()
    solvers = [data.assign_coords(solver=("run", np.full(data.sizes["run"], name))) for name in ("exact", "descent")]
    with pytest.raises(UserError, match="several, which differ in solver: give it runs of one alone"):
        r_squared.arranged(xr.concat(solvers, dim="run"))
    with pytest.raises(UserError, match="differ in nothing"):
        r_squared.r_squared(xr.concat([data, data.isel(run=[7])], dim="run"))


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


def test_too_few_pairs_without_a_class_leave_it_unknown():
    found = r_squared.without_each(r_squared.arranged(made(pairs=4)))
    assert np.isnan(found).any()
    assert np.isfinite(found.isel(left_out=0)).all()


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


def test_the_repeats_of_a_set_are_of_the_same_pairs():
    """A bound that is first on average over repeats is first, though every repeat has another one."""
    rng = np.random.default_rng(2)
    error = rng.standard_normal(250)
    of = table(rng, (0, 0, 1), 0.5, pairs=250).isel(seed=[0, 0, 0])
    noise = [[9, 0, 0], [0, 9, 0], [0.3, 0.3, 0.3]]  # by bound and repeat
    of["error"][:] = error
    for place, sizes in enumerate(noise):
        for seed, size in enumerate(sizes):
            of["bounds"][place, 0, seed, 0] = error + size * rng.standard_normal(250)
    shares = r_squared.first_shares(of).isel(left_out=0).squeeze()
    assert shares.sel(bound="covariance") > 0.95


def test_no_set_has_a_pair_twice_and_parts_have_their_own():
    parts = [np.arange(30), np.arange(0, 30, 1)[5:], np.flatnonzero(np.arange(30) % 4)]
    sets = list(r_squared._sets(parts))
    for part, found in zip(parts, sets, strict=True):
        assert found.shape == (r_squared.SETS, 20)
        assert np.isin(found, part).all()
        assert (np.diff(np.sort(found, axis=1), axis=1) > 0).all()
        counts = np.bincount(found.ravel(), minlength=30)[part]  # each pair is as likely as others
        np.testing.assert_allclose(counts, 20 / len(part) * r_squared.SETS, rtol=0.05)
    shared = [len(np.intersect1d(one, other)) for one, other in zip(*sets[:2], strict=True)]
    assert np.mean(shared) > 20 * 25 / 30 - 0.1  # all that the part has of the set


def test_bounds_that_tie_share_a_set_and_shares_sum_to_1():
    data = made(pairs=200)
    data["distance"] = data["covariance"]
    shares = r_squared.first_shares(r_squared.arranged(data))
    np.testing.assert_allclose(shares.sum("bound"), 1)
    np.testing.assert_array_equal(shares.sel(bound="distance"), shares.sel(bound="covariance"))
    assert (shares.sel(bound="covariance") > 0.4).all()


def test_few_pairs_have_no_share():
    assert r_squared.first_shares(r_squared.arranged(made(pairs=20))) is None
    shares = r_squared.first_shares(r_squared.arranged(made(NOISE | {"covariance": 0.0}, pairs=200)))
    assert shares.sizes["left_out"] == 11
    assert (shares.sel(bound="covariance") == 1).all()
    np.testing.assert_allclose(shares.sum("bound"), 1)


def test_the_published_values_are_those_of_the_paper():
    table = pd.read_csv(TABLE)
    found = {bound: r_squared.published(table, bound) for bound in r_squared.BOUNDS}
    assert all(values.index.tolist() == [10, 15, 20, 25, 30] for pair in found.values() for values in pair)
    np.testing.assert_array_equal(found["distance"][0], [0.69, 0.68, 0.66, 0.64, 0.62])
    np.testing.assert_array_equal(found["benign_overfitting"][0], [0.73, 0.75, 0.74, 0.71, 0.67])
    np.testing.assert_array_equal(found["covariance"], [[0.86, 0.89, 0.84, 0.75, 0.69], [0.02, 0.02, 0.02, 0.01, 0.02]])
