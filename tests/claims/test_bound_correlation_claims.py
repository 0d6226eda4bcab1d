"""The claims on bounds follow how near the bounds are to the errors."""

import numpy as np
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
    checked, found = verdicts(made(pairs=200), images="letters")
    kinds = "strong", "covariance", "benign_overfitting", "first"
    assert found == dict.fromkeys([f"{name}_{cutoff}" for cutoff in ("0", "0.01") for name in kinds], "holds")
    assert (checked["seeds"] == 10).all()
    assert set(checked["interval"].values) == {"jackknife over classes"}
    assert "over 200 pairs of letters" in str(checked["statement"].values[0])
    store.save(checked, tmp_path / "claims.nc")


def test_the_order_fails_where_it_is_reversed():
    _, found = verdicts(made(REVERSED, pairs=200), strong=0.9)
    assert set(found.values()) == {"fails"}


def test_an_order_that_hangs_on_two_classes_leaves_it_open():
    one, other = (made(noise, cutoffs=(0.0,), pairs=200) for noise in (NOISE, REVERSED))
    source, target = (one[f"{kind}_classes"].values for kind in ("source", "target"))
    odd = np.array(["3" in f"{a} {b}" or "5" in b for a, b in zip(source, target, strict=True)])  # of half of the pairs
    data = xr.concat([one.isel(run=odd), other.isel(run=~odd)], dim="run")
    _, kept = verdicts(one)
    _, found = verdicts(data)
    assert kept["covariance_0"] == kept["first_0"] == "holds"
    assert found["covariance_0"] == found["first_0"] == "undecided"


def test_the_statistic_is_a_mean_over_samples_of_a_difference():
    checked, _ = verdicts(made(NOISE | {"covariance": 0.0}))
    assert checked["statistic"].sel(claim="strong_0").item() == pytest.approx(1.0)
    difference = checked["statistic"].sel(claim="covariance_0").item()
    assert difference == pytest.approx(1 - 1 / (1 + 0.4**2), abs=0.05)


@pytest.mark.parametrize("samples", [10, 20])
def test_a_seed_without_r_squared_decides_nothing(samples):
    data = made(pairs=200)
    odd = (data["seed"] == 2) & (data["cutoff"] == 0) & (data["samples"] == samples)
    checked, found = verdicts(data.assign(risk_final=data["risk_final"].where(~odd, 0.0)))
    assert {name: verdict for name, verdict in found.items() if name.endswith("_0")} == dict.fromkeys(
        ("strong_0", "covariance_0", "benign_overfitting_0", "first_0"), "undecided"
    )
    assert np.isnan(checked["p_value"].sel(claim="first_0"))
    assert checked["interval"].sel(claim="first_0") == "none: no value"
    assert found["first_0.01"] == "holds"


def test_two_pairs_say_nothing():
    with pytest.raises(UserError, match="3 pairs"):
        verdicts(made(pairs=2))
