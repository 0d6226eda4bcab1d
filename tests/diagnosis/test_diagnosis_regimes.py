"""Verdicts on networks whose truth is known by construction, or from the paper; and what is said of them."""

import numpy as np
import pytest

from carryover.diagnosis import regimes
from carryover.diagnosis.diagnosis import Parameters, diagnose
from toy import diagnosed_networks as networks


def verdict(before, after, **more):
    return diagnose({"hidden": before}, {"hidden": after}, **more).isel(layer=0)


def test_too_few_samples_are_undecided_and_it_says_how_many_would_do():
    found = verdict(networks.pretrained(150), networks.selected(150))
    assert found["regime"].item() == regimes.UNDECIDED
    assert "too few samples: 150 for a PR of" in found["reason"].item()
    assert 150 < found["samples_needed"].item() < 500


def test_a_share_at_the_bound_is_undecided_and_names_both_sides():
    """16 of 20 features are kept, as many as count as all: samples cannot tell on which side it is."""
    found = verdict(networks.pretrained(2000), networks.selected(2000, kept=16), p=Parameters(variance=0.999))
    assert found["kept_share_low"].item() < 0.8 < found["kept_share_high"].item()
    assert found["regime"].item() == regimes.UNDECIDED
    assert found["reason"].item().endswith(": select or unchanged")
    assert np.isnan(found["samples_needed"].item())  # components are taken at 4096 at most


def random_relu(inputs, seed, units=200):
    weights = np.random.default_rng(seed).standard_normal((inputs.shape[1], units)) / inputs.shape[1] ** 0.5
    return np.maximum(inputs @ weights, 0).astype(np.float32)


def test_unrelated_random_layers_of_the_same_inputs_are_not_alike():
    """CKA of two random layers is near 1; a third one says that this is nothing."""
    inputs = np.random.default_rng(0).standard_normal((2000, 8))
    before, after, other = (random_relu(inputs, seed) for seed in range(3))
    alone, beside = verdict(before, after), verdict(before, after, baseline={"hidden": other})
    assert beside["cka"].item() > 0.9
    assert abs(beside["cka"].item() - beside["cka_reference"].item()) < 0.05
    assert alone["regime"].item() in (regimes.UNDECIDED, regimes.REPLACE)
    assert beside["regime"].item() == regimes.REPLACE
    assert abs(beside["inherited_share"].item()) < 0.15


def test_without_a_baseline_a_layer_that_tells_functions_of_its_inputs_is_undecided_unless_its_units_stay():
    inputs = np.random.default_rng(0).standard_normal((2000, 4))
    before = random_relu(inputs, 0)
    rotation = np.linalg.qr(np.random.default_rng(1).standard_normal((200, 200)))[0]
    rotated = verdict(before, before @ rotation)
    assert rotated["regime"].item() == regimes.UNDECIDED
    assert "give a recording of one as baseline" in rotated["reason"].item()
    assert verdict(before, 2 * before)["regime"].item() == regimes.UNCHANGED
    assert verdict(before, before @ rotation, baseline={"hidden": random_relu(inputs, 5)})["curvature"].item() > 0.2


@pytest.mark.parametrize("samples", [25, 40, 100])
def test_nothing_is_said_to_be_gone_where_samples_are_too_few_for_a_layer_to_tell_itself(samples):
    """300 features beside one loud direction have a PR of 1, of which there are always 10 times as many samples."""
    before = networks.mixed(networks.features(samples, 300) * np.r_[100, np.ones(299)], 300)
    found = verdict(before, before)
    assert found["regime"].item() == regimes.UNDECIDED
    assert "does not predict even itself" in found["reason"].item()
    few = networks.mixed(networks.features(samples, 4), 300), networks.mixed(networks.features(samples, 4, 1), 300)
    if samples == 100:
        assert verdict(*few)["regime"].item() == regimes.REPLACE
        assert verdict(*few)["self_prediction"].item() == pytest.approx(1)


@pytest.mark.parametrize("named", [False, True])
def test_samples_in_another_order_are_suspected_unless_they_have_names(named):
    before = networks.pretrained(600)
    order = np.random.default_rng(0).permutation(600)
    ids = {"id": np.arange(600)} if named else {}
    found = diagnose({"hidden": before, **ids}, {"hidden": before[order], **ids})
    assert found["regime"].item() == regimes.REPLACE
    assert ("in another order" in found["warning"].item()) != named
