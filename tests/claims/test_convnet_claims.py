"""Claims about convolutional networks hold, fail or stay open as the runs they are about say, and others do not."""

import numpy as np
import pytest

from carryover.claims import convnet_rescaling, convnet_stages
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.provenance import store
from toy.convnet_runs import SIZES, risk, stages
from toy.made_up_runs import SEEDS

P = model_of("claims", "convnet_rescaling")(
    small=0.001, trained=0.5
)  # less than all effects but 0, and than 24 networks show
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
        found = verdicts(convnet_rescaling.check({"pairs": worse}, model_of("claims", "convnet_rescaling")(small=0.08)))
        return {name.removeprefix("pairs_") for name, value in found.items() if value == "fails"}

    scaled = {"protocol": "finetuning", "rescaled": "all", "rescale": 0.5, "learning_rate": 0.01}
    always = {"all", "over_scratch", "over_rates", "small"}
    assert failing(**scaled, samples=SIZES[0]) == {*always, "few", "over_weights", "over_readout"}
    assert failing(**scaled, samples=SIZES[1]) == always
    assert failing(protocol="single_task", rescale=1.0) == {"over_scratch"}
    assert failing(learning_rate=0.001) == set()
    assert failing(protocol="multi_task") == set()


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
    checked = convnet_stages.check({"stages": stages(effect)}, model_of("claims", "convnet_stages")())
    found = verdicts(checked)
    small = [f"{name}_{factor}" for name in ("falls", "lower", "inherited") for factor in (0.25, 0.5)]
    names = [f"{name}_{stage}" for name in (*small, "kept_1", "kept_2") for stage in ("layer3", "layer4")]
    assert found == dict.fromkeys(names, verdict)
    store.save(checked, tmp_path / "claims.nc")


def test_statistics_of_stages_are_ratios_of_dimensions():
    found = convnet_stages.check({"stages": stages(1.0)}, model_of("claims", "convnet_stages")())[
        "statistic"
    ].to_series()
    assert found["falls_0.5_layer3"] == pytest.approx(0.3)
    assert found["kept_2_layer4"] == pytest.approx(1.1)
    assert found["inherited_0.25_layer4"] == pytest.approx(-0.1)
    lower = np.mean([np.log10((0.9 + off) / (0.9 - off)) for size in (1.5, 0.5) for off in _by_seed(size)])
    assert found["lower_0.5_layer4"] == pytest.approx(lower)


def _by_seed(size):
    return [0.2 * (size + 0.1 * (seed - np.mean(SEEDS))) for seed in SEEDS]
