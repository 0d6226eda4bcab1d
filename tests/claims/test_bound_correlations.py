"""R² of errors and bounds over pairs of tasks, and claims that follow how near the bounds are to the errors."""

import numpy as np
import pytest
import xarray as xr
from scipy.stats import linregress

from carryover.analysis.image_pairs import BOUNDS, leave_one_class_out, pair_table, r_squared
from toy.bound_runs import NOISE, SEEDS, SIZES, made
from toy.made_up_runs import checks_of


def test_it_is_the_share_of_variance_that_a_line_explains():
    data = made()
    found = r_squared(pair_table(data))
    assert found.sizes == {"bound": 3, "estimator": 2, "seed": len(SEEDS), "samples": len(SIZES)}
    for estimator, seed, samples in (("least_squares", 2, 10), ("ridge_0.01", 4, 20)):
        keep = (data["estimator"] == estimator) & (data["seed"] == seed) & (data["samples"] == samples)
        group = data.isel(run=keep.values)
        for bound in BOUNDS:
            line = linregress(group[bound], group["risk_final"])
            one = found.sel(estimator=estimator, seed=seed, samples=samples, bound=bound)
            assert one.item() == pytest.approx(line.rvalue**2)


@pytest.mark.parametrize("kind", ["error", "bound"])
def test_a_seed_without_r_squared_is_not_left_out_silently(kind):
    data = made(pairs=200)
    odd = ((data["seed"] == 3) & (data["samples"] == 20) & (data["estimator"] == "ridge_0.01")).values
    if kind == "error":  # all pairs have the same
        data["risk_final"] = data["risk_final"].where(~odd, 0.25)
    else:
        data["covariance"][np.flatnonzero(odd)[0]] = np.inf
    table = pair_table(data)
    found = leave_one_class_out(table)
    lacking = np.isnan(found).sel(bound="covariance").isel(left_out=0)
    assert lacking.sel(estimator="ridge_0.01", samples=20)
    assert lacking.sum() == 1


def test_each_class_in_turn_is_left_out_with_its_pairs():
    data = made()
    found = leave_one_class_out(pair_table(data))
    classes = (data["source_classes"].astype(object) + " " + data["target_classes"].astype(object)).values
    assert found.sizes["left_out"] == 11
    for place, label in enumerate([None, *map(str, range(10))]):
        keep = np.array([label not in four.split() for four in classes])
        kept = r_squared(pair_table(data.isel(run=keep))).mean("seed")
        xr.testing.assert_allclose(found.isel(left_out=place), kept.transpose("bound", "estimator", "samples"))


REVERSED = dict(zip(NOISE, sorted(NOISE.values()), strict=True))
KINDS = ("strong", "above_benign", "above_distance")


@pytest.mark.parametrize(("noise", "verdict"), [(NOISE, "holds"), (REVERSED, "fails")])
def test_the_order_holds_where_the_bounds_are_as_good_as_published_and_fails_where_it_is_reversed(noise, verdict):
    checked = checks_of("bound_correlations", {"bounds": made(noise, pairs=200)}, images="letters").to_dataframe()
    assert set(checked.index) == {
        f"{kind}_{estimator}" for kind in KINDS for estimator in ("least_squares", "ridge_0.01")
    }
    assert set(checked.loc[[name for name in checked.index if "strong" not in name], "verdict"]) == {verdict}
    assert set(checked["interval"]) == {"jackknife over classes"}
    assert (checked["seeds"] == 10).all()
    assert "Over 200 pairs of letters" in checked["statement"].iloc[0]


def test_the_statistic_is_a_mean_over_samples_of_a_difference():
    checked = checks_of("bound_correlations", {"bounds": made(NOISE | {"covariance": 0.0})})["statistic"]
    assert checked.sel(claim="strong_least_squares").item() == pytest.approx(1.0)
    assert checked.sel(claim="above_benign_least_squares").item() == pytest.approx(1 - 1 / (1 + 0.4**2), abs=0.05)
