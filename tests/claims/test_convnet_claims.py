"""Claims about convolutional networks hold, fail or stay open as the runs they are about say, and others do not."""

import numpy as np
import pytest
import xarray as xr

from carryover.analysis import intervals
from carryover.claims import convnet_rescaling, convnet_stages
from carryover.errors import UserError
from carryover.provenance import store
from toy.convnet_runs import SIZES, risk, stages
from toy.made_up_runs import SEEDS

P = convnet_rescaling.Parameters(small=0.001, trained=0.5)  # less than all effects but 0, and than 24 networks show
EFFECTS = pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
NAMES = {"all", "few", "over_scratch", "over_weights", "over_readout", "over_rates", "trains", "small"}


def verdicts(checked):
    return checked["verdict"].to_series().to_dict()


@EFFECTS
def test_every_claim_on_rescaling_follows_its_effect(effect, verdict, tmp_path):
    checked = convnet_rescaling.check({"pairs": risk(effect), "others": risk(1.0)}, P)
    found = verdicts(checked)
    assert set(found) == {f"{role}_{name}" for role in ("pairs", "others") for name in NAMES}
    assert found.pop("pairs_small") == ("fails" if effect else "undecided")
    assert found.pop("others_small") == "fails"
    assert found.pop("pairs_trains") == "holds"
    assert {value for name, value in found.items() if name.startswith("pairs")} == {verdict}
    assert {value for name, value in found.items() if name.startswith("others")} == {"holds"}
    alike = np.char.endswith(checked["claim"].values.astype(str), "_trains")
    assert (checked["seeds"].values[~alike] == len(SEEDS)).all()
    assert set(checked["interval"].values[~alike]) == {"Student's t over seeds"}
    store.save(checked, tmp_path / "claims.nc")


def test_statistics_are_differences_of_accuracies():
    found = convnet_rescaling.check({"pairs": risk(1.0)}, P)["statistic"].to_series()
    expected = {"all": 0.08, "few": 0.08, "over_rates": 0.08, "trains": 1, "small": P.small - 0.08}
    expected |= dict.fromkeys(("over_scratch", "over_weights", "over_readout"), 0.04)
    for name, value in expected.items():
        assert found[f"pairs_{name}"] == pytest.approx(value)


def test_each_claim_on_rescaling_is_about_its_own_runs():
    data = risk(1.0)

    def failing(**condition):
        keep = np.logical_and.reduce([data[name].values == value for name, value in condition.items()])
        worse = data.assign(risk_final=data["risk_final"] + keep)
        # The gain is as large as what counts as small: neither is it smaller nor larger.
        found = verdicts(convnet_rescaling.check({"pairs": worse}, convnet_rescaling.Parameters(small=0.08)))
        return {name.removeprefix("pairs_") for name, value in found.items() if value == "fails"}

    scaled = {"protocol": "finetuning", "rescaled": "all", "rescale": 0.5, "learning_rate": 0.01}
    always = {"all", "over_scratch", "over_rates", "small"}
    assert failing(**scaled, samples=SIZES[0]) == {*always, "few", "over_weights", "over_readout"}
    assert failing(**scaled, samples=SIZES[1]) == always
    assert failing(protocol="single_task", rescale=1.0) == {"over_scratch"}
    assert failing(learning_rate=0.001) == set()
    assert failing(protocol="multi_task") == set()


def test_a_small_effect_is_within_the_margin_on_either_side_and_no_gain():
    for effect in (0.5, -0.5):
        checked = convnet_rescaling.check({"pairs": risk(effect)}, convnet_rescaling.Parameters(small=0.3))
        found = checked.sel(claim="pairs_small")
        assert (found["statistic"], found["verdict"]) == (pytest.approx(0.3 - 0.04), "holds")
        assert 0.2 < found["low"] < 0.26 < found["high"]
        for name in ("pairs_all", "pairs_few"):
            gain = checked.sel(claim=name)
            assert (gain["statistic"], gain["bound"], gain["verdict"]) == (pytest.approx(effect * 0.08), 0.3, "fails")
            assert "by at least 30 % of the images" in str(gain["statement"].values)


def test_the_factor_is_held_against_the_best_learning_rate_without_it():
    data = risk(1.0)
    other = (data["learning_rate"].values == 0.001) & (data["rescale"].values == 1)
    better = data.assign(risk_final=data["risk_final"].where(~other, data["risk_final"] - 1.16))
    checked = convnet_rescaling.check({"pairs": better}, P).sel(claim="pairs_over_rates")
    assert checked["statistic"] == pytest.approx(0.08 + 0.9 - 1.16)
    assert checked["verdict"] == "fails"


def test_networks_that_were_not_trained_are_no_control():
    found = verdicts(convnet_rescaling.check({"pairs": risk(1.0, trained=False)}, P))
    assert found["pairs_trains"] == "fails"
    assert found["pairs_over_scratch"] == "undecided"
    assert found["pairs_all"] == "holds"


def test_shares_of_networks_lie_between_none_and_all():
    data = risk(1.0)
    most = data.assign(converged=data["converged"].where(data["seed"] != SEEDS[0], 0))
    found = convnet_rescaling.check({"pairs": most}, P).sel(claim="pairs_trains")
    assert found["interval"] == "Student's t over seeds"
    shares = intervals.student([float(seed != SEEDS[0]) for seed in SEEDS], "", 0.0)
    assert shares["high"] > 1
    np.testing.assert_allclose(
        [found["statistic"], found["low"], found["high"]], [shares["statistic"], shares["low"], 1]
    )
    assert found["measured"] == "share of networks"


def test_that_networks_are_trained_is_claimed_of_pairs_and_of_more_classes_together():
    data = risk(1.0)
    more = data.assign_coords(target_classes=("run", ["3 8 9"] * data.sizes["run"]))
    failing = more.assign(converged=xr.zeros_like(more["converged"]))
    checked = convnet_rescaling.check({"vgg": xr.concat([data, failing], "run")}, P)
    found = verdicts(checked)
    assert set(found) == {f"vgg_{kind}_{name}" for kind in ("pairs", "3_classes") for name in NAMES - {"trains"}} | {
        "vgg_trains"
    }
    assert checked["statistic"].sel(claim="vgg_trains") == pytest.approx(0.5)


def test_a_network_that_was_not_trained_without_the_factor_is_no_control_either():
    data = risk(1.0)
    plain = (data["protocol"].values == "single_task") & (data["rescale"].values == 1)
    stopped = data.assign(converged=data["converged"].where(~plain, 0), risk_final=data["risk_final"] + plain)
    assert verdicts(convnet_rescaling.check({"pairs": stopped}, P))["pairs_over_scratch"] == "undecided"


def test_controls_are_claims_where_there_are_such_runs():
    data = risk(1.0)
    tuned, scaled, whole = (data[name].values == value for name, value in
                            (("protocol", "finetuning"), ("rescale", 0.5), ("rescaled", "all")))  # fmt: skip
    usual = data["learning_rate"].values == 0.01
    found = convnet_rescaling.check({"pairs": data.isel(run=(tuned | ~scaled) & whole & usual)}, P)
    assert set(verdicts(found)) == {"pairs_all", "pairs_few", "pairs_trains", "pairs_small"}


def test_what_is_missing_of_rescaling_is_named():
    data = risk(1.0)
    with pytest.raises(UserError, match="there is no role"):
        convnet_rescaling.check({}, P)
    plain = data.isel(run=data["rescale"].values == 1)
    with pytest.raises(UserError, match=r"needs rescale 0\.5 of the role pairs"):
        convnet_rescaling.check({"pairs": plain}, P)
    tuned = data.isel(run=data["protocol"].values == "finetuning")
    with pytest.raises(UserError, match="needs protocol single_task of the role pairs"):
        convnet_rescaling.check({"pairs": tuned}, P)


@EFFECTS
def test_every_claim_on_stages_follows_its_effect(effect, verdict, tmp_path):
    checked = convnet_stages.check({"stages": stages(effect)}, convnet_stages.Parameters())
    found = verdicts(checked)
    small = [f"{name}_{factor}" for name in ("falls", "lower", "inherited") for factor in (0.25, 0.5)]
    names = [f"{name}_{stage}" for name in (*small, "kept_1", "kept_2") for stage in ("layer3", "layer4")]
    assert found == dict.fromkeys(names, verdict)
    store.save(checked, tmp_path / "claims.nc")


def test_statistics_of_stages_are_ratios_of_dimensions():
    found = convnet_stages.check({"stages": stages(1.0)}, convnet_stages.Parameters())["statistic"].to_series()
    assert found["falls_0.5_layer3"] == pytest.approx(0.3)
    assert found["kept_2_layer4"] == pytest.approx(1.1)
    assert found["inherited_0.25_layer4"] == pytest.approx(-0.1)
    lower = np.mean([np.log10((0.9 + off) / (0.9 - off)) for size in (1.5, 0.5) for off in _by_seed(size)])
    assert found["lower_0.5_layer4"] == pytest.approx(lower)


def _by_seed(size):
    return [0.2 * (size + 0.1 * (seed - np.mean(SEEDS))) for seed in SEEDS]


def test_shared_dimensions_beyond_those_that_are_left_count_as_other():
    data = stages(1.0)
    more = data.assign(ensd=2 * data["participation_ratio"] - data["ensd"] + 0.3 * data["participation_ratio"])
    found = verdicts(convnet_stages.check({"stages": more}, convnet_stages.Parameters(stages=("layer4",))))
    assert {name for name, value in found.items() if value != "holds"} == {
        "inherited_0.25_layer4", "inherited_0.5_layer4"
    }  # fmt: skip


def test_what_is_missing_of_stages_is_named():
    data = stages(1.0)
    with pytest.raises(UserError, match="stages is block5, but these networks have layer2, layer3, layer4"):
        convnet_stages.check({"stages": data}, convnet_stages.Parameters(stages=("block5",)))
    with pytest.raises(UserError, match="rescale below 1 of the role stages, not from 1"):
        convnet_stages.check({"stages": data.isel(run=data["rescale"].values >= 1)}, convnet_stages.Parameters())
