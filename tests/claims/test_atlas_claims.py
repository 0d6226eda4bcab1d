"""Claims about the atlas hold, fail or stay open as its maps say."""

import numpy as np
import pytest
from scipy import stats

from carryover.analysis import jackknife
from carryover.claims import atlas
from carryover.errors import UserError
from toy.atlas_runs import mapped, runs

BOTH = "finetuning", "finetuning_probe"


def checked(**maps):
    found = atlas.check(maps, atlas.Parameters())
    return found.to_dataframe()


def test_a_map_has_a_claim_on_its_boundary_for_each_protocol_and_two_on_its_ends():
    data = mapped(runs(BOTH), protocols=BOTH)
    assert checked(toy=data).index.tolist() == ["toy_side", "toy_similar", "toy_different", "toy_transfer_side"]
    assert checked(toy=mapped(theory="none")).index.tolist() == ["toy_similar", "toy_different"]
    assert set(checked(toy=data)["section"]) == {"Carryover"}
    assert set(checked(toy=data)["verdict"]) == {"holds"}


def test_the_share_on_the_predicted_side_counts_decided_cells():
    data = mapped()
    wrong = (data["row"] == 2) & (data["samples"] == 10)
    data["predicted"] = data["predicted"].where(~wrong, -1.0)
    row = checked(toy=data).loc["toy_side"]
    assert row["statistic"] == pytest.approx(5 / 6)
    assert row["verdict"] == "fails"
    assert row["interval"] == "jackknife over seeds"
    data["predicted"] = -data["predicted"]
    assert checked(toy=data).loc["toy_side"]["statistic"] == pytest.approx(1 / 6)


def test_a_share_that_hangs_on_one_seed_has_an_interval():
    """Without the last seed the gain of one more cell is decided, and not as predicted."""
    data = mapped(runs(spread=0.0))
    cell, last = (data["row"] == 1) & (data["samples"] == 10), data["seed"] == 5
    data["gain"] = data["gain"].where(~cell, 0.1 + 0.01 * data["seed"]).where(~(cell & last), -0.5)
    data["predicted"] = data["predicted"].where(~cell, -1.0)
    row = checked(toy=data).loc["toy_side"]
    expected = jackknife.estimate([1.0] * 6 + [6 / 7], "", 0.9)
    assert (row["statistic"], row["high"]) == (1.0, 1.0)
    assert row["low"] == pytest.approx(expected["low"])
    assert row["verdict"] == "undecided"


def test_gains_at_the_ends_are_means_over_samples_at_the_usual_setting():
    data = mapped(runs(noise=[0.0, 0.2]), setting="noise", shown=0.2)
    data["gain"] = data["gain"].where(data["setting"] == 0.2, -5.0)
    found = checked(toy=data)
    mean = 0.5 * np.log10([10, 20, 40]).mean()
    np.testing.assert_allclose(found.loc[["toy_similar", "toy_different"], "statistic"], mean, atol=1e-6)
    data["gain"] = -data["gain"]
    assert set(checked(toy=data).loc[["toy_similar", "toy_different"], "verdict"]) == {"fails"}


def test_maps_of_transfer_alone_without_theory_have_no_claim():
    data = mapped(runs(("finetuning_probe",)), protocols=("finetuning_probe",), theory="none")
    with pytest.raises(UserError, match="a group of claims must have one claim or more"):
        checked(toy=data)


def test_orders_are_means_over_families_that_have_both():
    first, second = mapped(runs(spread=0.3)), mapped(family="Second")
    second["predicted"] = -second["predicted"]
    found = checked(a=first, b=second, c=mapped(theory="none"))
    frames = [data.to_dataframe() for data in (first, second)]
    for name in ("predicted", "similarity"):
        expected = np.mean([stats.spearmanr(frame[name], frame["gain"]).statistic for frame in frames])
        assert found.loc[name, "statistic"] == pytest.approx(expected)
        assert found.loc[name, "interval"] == "jackknife over groups of seeds"
    difference = found.loc["predicted", "statistic"] - found.loc["similarity", "statistic"]
    assert found.loc["better", "statistic"] == pytest.approx(difference)
    assert found.loc["better", "verdict"] == "fails"


def test_what_is_known_of_features_has_a_claim_over_the_families_that_have_all_of_it():
    maps = [mapped(runs(spread=0.3), family=name) for name in ("First", "Second", "Third")]
    for data, sign in zip(maps, (1, -1, 1), strict=True):
        data["probe_r_squared"] = sign * data["predicted"] + 0.1 * data["seed"]
    for data in maps[:2]:
        data["target_alignment"] = data["similarity"]
    found = checked(**dict(zip("abc", maps, strict=True)))
    frames = [data.to_dataframe() for data in maps[:2]]
    for name, column in (("readout", "probe_r_squared"), ("alignment", "target_alignment")):
        expected = np.mean([stats.spearmanr(frame[column], frame["gain"]).statistic for frame in frames])
        assert found.loc[name, "statistic"] == pytest.approx(expected)
    assert "readout of the pretrained features" in found.loc["readout", "statement"]
    assert "readout" not in checked(a=maps[0], c=maps[2]).index  # one family alone has both
