"""The claims on bounds follow how near the bounds are to the errors."""

import pytest

from carryover.provenance import store
from toy.bound_runs import NOISE, made
from toy.made_up_runs import checks_of

REVERSED = dict(zip(NOISE, sorted(NOISE.values()), strict=True))


def verdicts(data, **told):
    checked = checks_of("bound_correlations", {"bounds": data}, **told)
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
    _, found = verdicts(made(REVERSED, pairs=200))
    assert {name for name, verdict in found.items() if verdict != "fails"} <= {"strong_0", "strong_0.01"}


def test_the_statistic_is_a_mean_over_samples_of_a_difference():
    checked, _ = verdicts(made(NOISE | {"covariance": 0.0}))
    assert checked["statistic"].sel(claim="strong_0").item() == pytest.approx(1.0)
    difference = checked["statistic"].sel(claim="covariance_0").item()
    assert difference == pytest.approx(1 - 1 / (1 + 0.4**2), abs=0.05)
