"""Claims about convolutional networks hold, fail or stay open as the runs they are about say, and others do not; means
are over seeds that have tasks of their own."""

import pytest
import xarray as xr

from toy.convnet_runs import pretrained, risk, stages
from toy.made_up_runs import SEEDS, checks_of

EFFECTS = pytest.mark.parametrize(("effect", "verdict"), [(1.0, "holds"), (-1.0, "fails"), (0.0, "undecided")])
NAMES = {"all", "over_scratch", "over_weights", "over_readout", "over_rates"}


def verdicts(checked):
    return checked["verdict"].to_series().to_dict()


@EFFECTS
def test_every_claim_on_rescaling_follows_its_effect(effect, verdict):
    checked = checks_of("convnet_rescaling", {"pairs": risk(effect), "others": risk(1.0)})
    found = verdicts(checked)
    assert set(found) == {f"{role}_{name}" for role in ("pairs", "others") for name in NAMES}
    assert {value for name, value in found.items() if name.startswith("pairs")} == {verdict}
    assert {value for name, value in found.items() if name.startswith("others")} == {"holds"}
    assert (checked["seeds"] == len(SEEDS)).all()


def test_pairs_of_classes_are_compared_with_all():
    systems = ((1.0, "0 1"), (-0.5, "0 1 2 3 4"))
    both = xr.concat(
        [risk(effect).assign_coords(target_classes=("run", [classes] * risk(effect).sizes["run"]))
         for effect, classes in systems], dim="run",
    )  # fmt: skip
    found = checks_of("convnet_rescaling", {"digits": both})["statistic"].to_series()
    assert found["digits_pairs_stronger"] == pytest.approx(0.08 - 0.04)


@EFFECTS
def test_every_claim_on_stages_follows_its_effect(effect, verdict):
    checked = checks_of("convnet_stages", {"stages": stages(effect, rates=True)})
    found = verdicts(checked)
    names = [
        f"{name}_{stage}" for name in ("falls", "inherited", "kept", "kept_rates") for stage in ("layer3", "layer4")
    ]
    assert found == dict.fromkeys(names, verdict)


@pytest.mark.parametrize(("effect", "verdict", "alike"), [(1.0, "holds", "fails"), (0.0, "undecided", "undecided")])
def test_claims_on_a_network_from_imagenet_follow_their_effect(effect, verdict, alike):
    found = verdicts(checks_of("pretrained_rescaling", pretrained(effect)))
    gains = [f"{role}_{name}" for role in ("pairs", "sets") for name in ("helps", "over_rates", "over_scratch")]
    expected = dict.fromkeys([*gains, "sizes_64_helps", "tuned_over_probe", "probe_improves"], verdict)
    for role in ("pairs", "sets"):  # 0.25 has no effect, as its rate
        expected |= {f"{role}_as_rate_0.5": alike, f"{role}_as_rate_0.25": "holds"}
    assert found == expected
