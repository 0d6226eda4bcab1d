"""Claims about convolutional networks hold, fail or stay open as the runs they are about say, and others do not."""

import numpy as np
import pytest
import xarray as xr

from carryover.claims import convnet_rescaling, convnet_stages
from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.provenance import store
from toy.convnet_runs import SIZES, risk, stages
from toy.made_up_runs import SEEDS

P = model_of("claims", "convnet_rescaling")(small=0.001)  # less than all effects but 0
EFFECTS = pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
NAMES = {"all", "over_scratch", "over_weights", "over_readout", "over_rates"}


def verdicts(checked):
    return checked["verdict"].to_series().to_dict()


@EFFECTS
def test_every_claim_on_rescaling_follows_its_effect(effect, verdict, tmp_path):
    checked = convnet_rescaling.check({"pairs": risk(effect), "others": risk(1.0)}, P)
    found = verdicts(checked)
    assert set(found) == {f"{role}_{name}" for role in ("pairs", "others") for name in NAMES}
    assert {value for name, value in found.items() if name.startswith("pairs")} == {verdict}
    assert {value for name, value in found.items() if name.startswith("others")} == {"holds"}
    assert (checked["seeds"] == len(SEEDS)).all()
    store.save(checked, tmp_path / "claims.nc")


def test_statistics_are_differences_of_accuracies():
    found = convnet_rescaling.check({"pairs": risk(1.0)}, P)["statistic"].to_series()
    expected = {"all": 0.08, "over_rates": 0.08}
    expected |= dict.fromkeys(("over_scratch", "over_weights", "over_readout"), 0.04)
    for name, value in expected.items():
        assert found[f"pairs_{name}"] == pytest.approx(value)


def test_pairs_of_classes_are_compared_with_all():
    systems = ((1.0, "0 1"), (-0.5, "0 1 2 3 4"))
    both = xr.concat(
        [risk(effect).assign_coords(target_classes=("run", [classes] * risk(effect).sizes["run"]))
         for effect, classes in systems], dim="run",
    )  # fmt: skip
    found = convnet_rescaling.check({"digits": both}, P)["statistic"].to_series()
    assert found["digits_pairs_stronger"] == pytest.approx(0.08 - 0.04)


def test_each_claim_on_rescaling_is_about_its_own_runs():
    data = risk(1.0)

    def failing(**condition):
        keep = np.logical_and.reduce([data[name].values == value for name, value in condition.items()])
        worse = data.assign(risk_final=data["risk_final"] + keep)
        # The gain is as large as what counts as small: neither is it smaller nor larger.
        found = verdicts(convnet_rescaling.check({"pairs": worse}, model_of("claims", "convnet_rescaling")(small=0.08)))
        return {name.removeprefix("pairs_") for name, value in found.items() if value == "fails"}

    scaled = {"protocol": "finetuning", "rescaled": "all", "rescale": 0.5, "learning_rate": 0.01}
    always = {"all", "over_scratch", "over_rates"}
    assert failing(**scaled, samples=SIZES[0]) == {*always, "over_weights", "over_readout"}
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
    names = [f"{name}_{stage}" for name in ("falls", "inherited", "kept") for stage in ("layer3", "layer4")]
    assert found == dict.fromkeys(names, verdict)
    store.save(checked, tmp_path / "claims.nc")


def test_statistics_of_stages_are_ratios_of_dimensions():
    found = convnet_stages.check({"stages": stages(1.0)}, model_of("claims", "convnet_stages")())[
        "statistic"
    ].to_series()
    assert found["falls_layer3"] == pytest.approx(0.3)
    assert found["inherited_layer4"] == pytest.approx(-0.1)
