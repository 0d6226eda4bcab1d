"""The claims on bounds follow how near the bounds are to the errors."""

import pytest
import xarray as xr

from carryover.claims import bound_correlations
from carryover.errors import UserError
from carryover.provenance import store
from toy.bound_runs import NOISE, made

REVERSED = dict(zip(NOISE, sorted(NOISE.values()), strict=True))


def verdicts(data, **told):
    checked = bound_correlations.check({"bounds": data}, bound_correlations.Parameters(**told))
    return checked, checked["verdict"].to_series().to_dict()


def test_every_claim_holds_where_the_bounds_are_as_good_as_published(tmp_path):
    checked, found = verdicts(made())
    names = [f"{name}_{cutoff}" for cutoff in ("0", "0.01") for name in ("strong", "covariance", "benign_overfitting")]
    assert found == dict.fromkeys(names, "holds")
    assert (checked["seeds"] == 5).all()
    store.save(checked, tmp_path / "claims.nc")


def test_the_order_fails_where_it_is_reversed():
    _, found = verdicts(made(REVERSED), strong=0.9)
    assert set(found.values()) == {"fails"}


def test_an_order_that_differs_from_seed_to_seed_leaves_it_open():
    one, other = (made(noise, cutoffs=(0.0,)) for noise in (NOISE, REVERSED))
    odd = one["seed"].values % 2 == 1
    _, found = verdicts(xr.concat([one.isel(run=odd), other.isel(run=~odd)], dim="run"))
    assert found["covariance_0"] == found["benign_overfitting_0"] == "undecided"


def test_the_statistic_is_a_mean_over_samples_of_a_difference():
    checked, _ = verdicts(made(NOISE | {"covariance": 0.0}))
    assert checked["statistic"].sel(claim="strong_0").item() == pytest.approx(1.0)
    difference = checked["statistic"].sel(claim="covariance_0").item()
    assert difference == pytest.approx(1 - 1 / (1 + 0.4**2), abs=0.05)


def test_two_pairs_say_nothing():
    with pytest.raises(UserError, match="3 pairs"):
        verdicts(made(pairs=2))
