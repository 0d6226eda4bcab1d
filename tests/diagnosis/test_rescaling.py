"""Choosing a factor: on scores whose best factor is known, and on a network that is finetuned."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from carryover.diagnosis.rescaling import choose_factor, choose_family_factor, search_factor
from carryover.networks.convnet import ResNet18
from carryover.streams import generator


def noisy(best, noise, calls=None):
    """Scores that fall with the distance from the best factor in octaves; noise of seeds that all factors share, and
    of each factor and seed."""

    def run(factor, seed):
        if calls is not None:
            calls.append((factor, seed))
        shared = generator("toy", "", seed, "shared").normal()
        own = generator("toy", factor, seed, "own").normal()
        return -abs(math.log2(factor / best)) + shared + noise * own

    return run


@pytest.mark.parametrize("best", [0.125, 0.5, 2.0])
def test_a_clear_best_factor_is_found_and_beats_one(best):
    found = search_factor(noisy(best, 0.02))
    assert found.factor == best
    assert found.verdict == "helps"
    mean, low, high = found.gain
    assert low < abs(math.log2(best)) < high or abs(mean - abs(math.log2(best))) < 0.1


def test_a_best_factor_between_those_of_the_grid_is_approached():
    best = 2**-1.5
    assert search_factor(noisy(best, 0.0)).factor == pytest.approx(best)
    assert search_factor(noisy(best, 0.0), refinements=0).factor in (0.25, 0.5)


def test_one_is_left_alone_where_nothing_scores_higher():
    found = search_factor(noisy(1.0, 0.01))
    assert (found.factor, found.verdict, found.gain) == (1.0, "none", (0.0, 0.0, 0.0))
    assert "leave them as they are" in found.sentence()


def test_noise_alone_is_rarely_said_to_help():
    def flat(number):
        return lambda factor, seed: generator("flat", [number, factor], seed, "noise").normal()

    verdicts = [search_factor(flat(number)).verdict for number in range(60)]
    assert verdicts.count("helps") <= stats.binom.ppf(0.999, 60, 0.025)


def test_each_factor_and_seed_is_run_once_and_half_of_the_factors_go_on():
    calls = []
    search_factor(
        noisy(0.5, 0.02, calls), factors=[2.0**k for k in range(-4, 4)], seeds=2, refinements=0, fresh_seeds=2
    )
    assert len(calls) == len(set(calls))
    by_seed = [len({factor for factor, s in calls if s == seed}) for seed in range(8)]
    assert by_seed[:2] == [8, 8]
    assert by_seed[2:4] == [len({f for f, s in calls if s == 2})] * 2
    assert by_seed[2] in (4, 5)  # the better half, and 1
    assert sorted({s for f, s in calls if f == 1.0}) == list(range(max(s for _, s in calls) + 1))


@given(st.floats(0.1, 10), st.floats(-5, 5))
@settings(derandomize=True, deadline=None, max_examples=6)
def test_scale_and_origin_of_the_score_change_nothing(scale, origin):
    run = noisy(0.25, 0.3)
    one, other = search_factor(run), search_factor(lambda factor, seed: origin + scale * run(factor, seed))
    assert one.factor == other.factor
    assert one.verdict == other.verdict
    np.testing.assert_allclose(np.array(one.gain) * scale, other.gain, atol=1e-9)


def test_the_curve_has_means_and_intervals_of_the_seeds_that_chose():
    run = noisy(0.5, 0.5)
    curve = search_factor(run, fresh_seeds=4).curve
    row = curve.sel(factor=0.5)
    values = [run(0.5, seed) for seed in range(int(row["seeds"]))]
    assert float(row["score"]) == pytest.approx(np.mean(values))
    low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), stats.sem(values))
    np.testing.assert_allclose([row["low"], row["high"]], [low, high])
    assert all(variable.attrs["long_name"] for variable in curve.variables.values())


def test_what_cannot_be_is_refused():
    for factors in ([0.5, 0.0], [], [math.inf]):
        with pytest.raises(ValueError, match="factors must be finite numbers above 0"):
            search_factor(noisy(1.0, 0.1), factors=factors)
    with pytest.raises(ValueError, match="must be at least 2, got 1 and 8"):
        search_factor(noisy(1.0, 0.1), seeds=1)
    with pytest.raises(ValueError, match=r"score must be a finite number, got nan at factor 0\.0625, seed 0"):
        search_factor(lambda factor, seed: math.nan)
    with pytest.raises(ValueError, match="which must be one of all, weights, readout"):
        choose_factor(None, {}, None, None, which="biases")


def build(seed, classes=2):
    return ResNet18(torch.Generator().manual_seed(seed), classes, 2, "small", 1)


def test_finetuning_starts_from_the_pretrained_module_rescaled_with_new_layers():
    state, seen = build(9, classes=5).state_dict(), []

    def finetune(module, seed):
        seen.append((seed, {name: tensor.clone() for name, tensor in module.state_dict().items()}))

    choose_factor(build, state, finetune, lambda module: 0.0, which="all", factors=[0.5], seeds=2, refinements=0)
    half = [
        found for seed, found in seen if seed == 1 and not torch.equal(found["conv1.weight"], state["conv1.weight"])
    ]
    assert len(half) == 1
    assert torch.equal(half[0]["conv1.weight"], state["conv1.weight"] / 2)
    assert torch.equal(half[0]["bn1.weight"], state["bn1.weight"] / 2)
    assert torch.equal(half[0]["bn1.running_var"], state["bn1.running_var"])
    assert torch.equal(half[0]["fc.weight"], build(1).state_dict()["fc.weight"] / 2)


def wider(width):
    return ResNet18(torch.Generator(), 2, width, "small", 1).state_dict()


def one_right_key():
    return {"conv1.weight": wider(2)["conv1.weight"], "weight": torch.zeros(3)}


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (wider(3), r"state has 'conv1.weight' of the shape \(3, 1, 3, 3\), in this ResNet18 of the shape \(2, 1, 3, 3"),
        (one_right_key(), r"state lacks 'bn1.weight', in this ResNet18 of the shape \(2,\): give weights of the same"),
        ({}, "state lacks 'conv1.weight'"),
    ],
)
def test_the_state_of_another_network_is_refused(state, said):
    with pytest.raises(ValueError, match=said):
        choose_factor(build, state, lambda module, seed: None, lambda module: 0.0)


def test_the_number_of_batches_and_the_last_layer_may_be_missing():
    state = {name: tensor for name, tensor in wider(2).items() if "num_batches" not in name and "fc." not in name}
    found = choose_factor(
        build,
        state,
        lambda module, seed: None,
        lambda module: float(torch.equal(module.conv1.weight, state["conv1.weight"])),
    )
    assert (found.factor, float(found.curve["score"].sel(factor=1))) == (1, 1)


TASK = {"dimension": 100, "auxiliary_features": 20}


@pytest.mark.slow
@pytest.mark.parametrize(("main_features", "end"), [(3, "No smaller one was tried."), (20, "No larger one was tried.")])
def test_diagonal_networks_gain_from_small_factors_where_few_features_are_wanted_and_from_large_ones_where_all_are(
    main_features, end
):
    finetune = {**TASK, "samples": 32, "main_features": main_features}
    found = choose_family_factor("diagonal", {**TASK, "samples": 128}, finetune)
    assert found.verdict == "helps"
    assert (found.factor < 1) == (main_features == 3)
    assert found.sentence().endswith(f"it beats 1 beyond noise. {end}")


def test_relu_networks_say_which_layer_was_multiplied():
    task = {"dimension": 4, "width": 8, "auxiliary_features": 2}
    steps = {"samples": 16, "learning_rate": 0.1, "tolerance": 0.1, "max_epochs": 5}
    finetune = {**task, **steps, "main_features": 2, "unit_correlations": "1 0"}
    found = choose_family_factor("relu", {**task, **steps}, finetune, factors=(0.5, 2.0), fresh_seeds=2)
    assert found.which == "first-layer"
    assert np.isfinite(found.curve["score"]).all()


@pytest.mark.parametrize(
    ("family", "finetune", "said"),
    [
        ("convnet", {}, "the family convnet has no exact risk"),
        ("none", {}, "there is no family none"),
        ("diagonal", {"sample": 8}, "finetune of the family diagonal has no parameter sample"),
        ("diagonal", {"readout_scale": -1.0}, "--readout-scale -1.0: it must be a number > 0"),
    ],
)
def test_mistakes_in_the_parameters_of_a_family_are_named(family, finetune, said):
    with pytest.raises(ValueError, match=said):
        choose_family_factor(family, {}, finetune)
