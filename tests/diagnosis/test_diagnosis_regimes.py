"""Regimes of networks in which they are known by construction, or from the paper."""

import numpy as np
import pytest

from carryover.config.parameters import ParameterError
from carryover.diagnosis.activations import regimes
from carryover.diagnosis.diagnosis import DEFAULTS, Parameters, diagnose
from carryover.families import running
from carryover.families.relu import descent, finetune, pretrain
from carryover.networks.relu import Weights
from carryover.tasks.sparse import sphere
from toy import diagnosed_networks as networks

pytestmark = pytest.mark.slow

KNOWN = {
    networks.selected: regimes.NESTED,
    networks.frozen: regimes.LAZY,
    networks.fresh: regimes.FRESH,
    networks.partly: regimes.MIXED,
}


@pytest.mark.parametrize(("after", "regime"), KNOWN.items())
@pytest.mark.parametrize("units", [50, 1500])  # fewer than samples, and more
def test_regimes_that_are_known_by_construction(after, regime, units):
    found = diagnose({"hidden": networks.pretrained(1200)}, {"hidden": after(1200, units=units)})
    assert found["regime"].item() == regime
    assert f"{regime}: yes" in found["reason"].item() or regime == regimes.MIXED


@pytest.mark.parametrize("after", KNOWN)
def test_too_few_samples_are_undecided_and_it_says_so(after):
    found = diagnose({"hidden": networks.pretrained(150)}, {"hidden": after(150)})
    assert found["regime"].item() == regimes.UNDECIDED
    assert "too few samples: 150 for a PR of 1" in found["reason"].item()


def test_a_change_at_the_criterion_is_undecided():
    """PR falls from 20 to 18, as the criterion asks for at least: samples cannot tell on which side it is."""
    found = diagnose({"hidden": networks.pretrained(2000)}, {"hidden": networks.selected(2000, kept=18)})
    assert found["change_low"].item() < 1 - DEFAULTS.change < found["change_high"].item()
    assert found["regime"].item() == regimes.UNDECIDED
    assert "nested feature selection: cannot tell" in found["reason"].item()


def test_another_criterion_gives_another_regime():
    layers = {"hidden": networks.pretrained(2000)}, {"hidden": networks.selected(2000, kept=18)}
    assert diagnose(*layers, p=Parameters(change=0.3))["regime"].item() == regimes.LAZY


def test_our_relu_networks_are_nested_unless_their_weights_are_rescaled_by_ten():
    """Fig. 8b, c of the paper: a main task with one of six pretrained features."""
    small = {"width": 60, "max_epochs": 1500, "learning_rate": 0.5, "tolerance": 1e-6, "device": "cpu"}
    start = running.run(pretrain, pretrain.Parameters(**small), "toy", [0], descent.solve)
    asked = finetune.Parameters(
        samples=(64,), main_features=(1,), main_norm="l1", rescale=(0.1, 1.0, 10.0), batch_size=0, **small
    )
    ends = running.run(finetune, asked, "toy", [0], descent.solve, start)
    X = sphere(np.random.default_rng(0), 2000, 15)
    layers = [
        {f"{factor:g}": Weights(run[f"{prefix}first"].values, run[f"{prefix}second"].values).responses(X)
         for factor, run in ((run["rescale"].item(), run) for run in (ends.isel(run=r) for r in range(3)))}
        for prefix in ("start_", "")
    ]  # fmt: skip
    found = diagnose(*layers)
    assert found["layer"].values.tolist() == ["0.1", "1", "10"]
    assert found["regime"].values.tolist() == [regimes.NESTED, regimes.NESTED, regimes.LAZY]


def test_criteria_are_held_to_their_limits():
    with pytest.raises(ParameterError, match=r"--fresh -1.0: it must be a number > 0 and ≤ 1"):
        diagnose({}, {}, p=Parameters(fresh=-1.0))


def test_criteria_are_written_as_they_are_applied():
    said = [regimes.in_words(ranges) for ranges in regimes.criteria(vars(DEFAULTS)).values()]
    assert said == [
        "PR after / PR before < 0.9 and 0.8 < ENSD / PR after < 1.2",
        "0.9 < PR after / PR before < 1.1 and 0.9 < CKA",
        "ENSD / PR after < 0.5",
    ]
