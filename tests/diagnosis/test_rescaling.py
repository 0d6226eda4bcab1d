"""Choosing a factor: how weights are rescaled, how the factor is searched, and how a search goes on."""

import math

import numpy as np
import pytest
import torch
from scipy import stats
from torch import nn

from carryover.diagnosis.rescaling import choose_factor, load_rescaled
from carryover.diagnosis.search import search_factor
from carryover.networks.convnet import VGG11, ResNet18
from carryover.networks.convnet_weights import rescale_state
from carryover.streams import generator


def small(seed, classes=2, kind=ResNet18, stem="small"):
    return kind(torch.Generator().manual_seed(seed), classes, 2, stem, 1)


class Language(nn.Module):
    """Embeddings that the readout shares, indices that are buffers, and a place that is no layer's."""

    def __init__(self, seed):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            self.words = nn.Embedding(7, 4)
            self.token = nn.Parameter(torch.randn(1, 1, 4))
            self.scale = nn.Parameter(torch.ones(4))
            self.attention = nn.MultiheadAttention(4, 2)
            self.norm = nn.LayerNorm(4)
            self.normal = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))
            self.register_buffer("position_ids", torch.arange(5))
            self.register_buffer("mask", torch.ones(5))
            self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.words.weight


@pytest.mark.parametrize("kind", [(ResNet18, "small"), (VGG11, "imagenet")])
@pytest.mark.parametrize("which", ["all", "weights"])
def test_our_networks_are_rescaled_as_their_families_do(kind, which):
    state, network = small(1, 3, *kind).state_dict(), small(2, 3, *kind)
    load_rescaled(network, state, 0.3, which)
    for name, tensor in rescale_state(state, 0.3, which).items():
        assert torch.equal(network.state_dict()[name], tensor), name


def test_buffers_are_loaded_and_never_multiplied_and_shared_weights_once():
    network, state = Language(1), Language(2).state_dict()
    load_rescaled(network, state, 0.5, "all")
    assert network.head.weight is network.words.weight
    for name, value in network.state_dict().items():
        assert torch.equal(value, state[name] if name in ("position_ids", "mask") else state[name] / 2), name


def test_frozen_parameters_stay_as_they_are_and_are_told():
    network, state = Language(1), Language(2).state_dict()
    network.words.requires_grad_(False)
    (frozen,) = load_rescaled(network, state, 0.5, "all")
    assert torch.equal(network.words.weight, state["words.weight"])
    assert torch.equal(network.token, state["token"] / 2)
    assert frozen == "1 of 12 parameters are frozen and stay as they are."
    network.requires_grad_(False)
    with pytest.raises(ValueError, match="there is nothing to multiply: this Language has no weights that is trained"):
        load_rescaled(network, state, 0.5)


def test_a_head_that_is_named_begins_anew_and_may_be_scaled_alone():
    network, own, state = small(1), small(1).state_dict(), small(2).state_dict()
    load_rescaled(network, state, 0.5, "readout", head="fc")
    assert torch.equal(network.fc.weight, own["fc.weight"] / 2)
    assert torch.equal(network.conv1.weight, state["conv1.weight"])
    with pytest.raises(ValueError, match="which must be one of all, weights, readout, the last with head="):
        load_rescaled(network, state, 0.5, "readout")


def test_a_head_anywhere_may_be_new():
    def build(seed, classes):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return nn.ModuleDict({"classifier": nn.Linear(4, classes), "layers": nn.Linear(3, 4)})

    state = build(0, 5).state_dict()
    with pytest.raises(
        ValueError, match=r"state has 'classifier.weight' of the shape \(5, 4\).*the layer named with head="
    ):
        load_rescaled(build(1, 2), state, 1.0)
    network = build(1, 2)
    load_rescaled(network, state, 0.5, head="classifier")
    assert torch.equal(network["layers"].weight, state["layers.weight"] / 2)
    assert torch.equal(network["classifier"].weight, build(1, 2)["classifier"].weight / 2)
    with pytest.raises(ValueError, match="has no layer 'fc' with parameters; it has layers, classifier, among others"):
        load_rescaled(build(1, 2), state, 1.0, head="fc")


def noisy(best, noise):
    """Scores that fall with the distance from the best factor in octaves; noise of seeds that all factors share, and
    of each factor and seed."""

    def run(factor, seed):
        shared = generator("toy", "", seed, "shared").normal()
        own = generator("toy", factor, seed, "own").normal()
        return -abs(math.log2(factor / best)) + shared + noise * own

    return run


@pytest.mark.parametrize("best", [0.03125, 0.5, 2.0])
def test_a_clear_best_factor_is_found_and_beats_one(best):
    found = search_factor(noisy(best, 0.02), progress=False)
    assert found.factor == pytest.approx(best)
    assert found.verdict == "helps"
    mean, low, high = found.gain
    assert low < abs(math.log2(best)) < high or abs(mean - abs(math.log2(best))) < 0.1
    assert ("No smaller one was tried." in found.sentence()) == (best < 0.1)


def flat(number):
    return lambda factor, seed: generator("flat", [number, factor], seed, "noise").normal()


@pytest.mark.extended
def test_noise_alone_is_rarely_said_to_help():
    found = [search_factor(flat(number), progress=False) for number in range(200)]
    verdicts = [choice.verdict for choice in found]
    assert verdicts.count("helps") <= stats.binom.ppf(0.999, 200, 0.025)
    assert all((choice.recommended == choice.factor) == (choice.verdict in ("helps", "none")) for choice in found)
    flat_notes = sum("No factor differs" in " ".join(choice.notes) for choice in found)
    assert flat_notes >= 180  # of 200, one in twenty is found to differ


def test_a_score_that_is_not_finite_counts_as_the_worst_and_is_told():
    for bad in (math.nan, math.inf, -math.inf):
        run = noisy(0.25, 0.01)
        found = search_factor(lambda factor, seed, run=run, bad=bad: bad if factor > 1 else run(factor, seed))
        assert (found.factor, found.verdict) == (0.25, "helps")
        assert "Some scores were not finite (factor 2, 4): they count as the lowest." in found.notes
        assert np.isfinite(found.curve["score"]).all()


def rated(factor_gain, rate_gain):
    def run(factor, seed, rate):
        best = factor_gain * (factor == 0.25) + rate_gain * (rate == 2)
        return best + 0.01 * generator("rated", [factor, rate], seed, "own").normal()

    return run


def test_a_gain_that_a_learning_rate_gives_too_is_named():
    told = search_factor(rated(0.1, 0.1))
    assert (told.verdict, told.control.rate, told.recommended) == ("rate", 2.0, 0.25)
    assert "A learning rate of 2 times the usual does so, too: it gains 0." in told.sentence()
    free = search_factor(rated(0.1, 0.0))
    assert free.verdict == "helps"
    assert "No learning rate does as much: of 0.5, 2, 4 times the usual" in free.sentence()
    part = search_factor(rated(0.1, 0.05))
    assert (part.verdict, part.control.rate) == ("helps", 2.0)
    assert part.control.lead.low < 0.05 < part.control.lead.high
    assert search_factor(rated(0.0, 0.1)).control is None  # nothing to explain


@pytest.mark.extended
def test_a_factor_is_rarely_said_to_beat_a_rate_that_gains_as_much():
    def run(number, factor, seed, rate):
        return 1.5 * (factor == 0.25 or rate == 2) + generator("r", [number, factor, rate], seed, "own").normal()

    def verdict(number):
        return search_factor(lambda factor, seed, rate: run(number, factor, seed, rate), progress=False).verdict

    verdicts = [verdict(number) for number in range(60)]
    assert verdicts.count("rate") >= 20
    assert verdicts.count("helps") <= stats.binom.ppf(0.999, 60, 0.025)


def test_scores_that_all_factors_share_are_said_to_be_flat():
    found = search_factor(lambda factor, seed: 0.5 + 0.01 * seed, progress=False)
    assert (found.factor, found.trainings) == (1, 24)
    assert found.notes == (
        "No factor differs from the others beyond noise (scores 0.51 to 0.51): if these are at chance, nothing trains.",
    )


def test_the_curve_has_means_and_intervals_of_the_seeds_that_chose():
    run = noisy(0.5, 2.0)
    curve = search_factor(run, fresh_seeds=4, progress=False).curve
    scores = np.array([[run(float(factor), seed) for seed in range(3)] for factor in curve["factor"]])
    # Ordinary least squares on one column per factor has the same intervals.
    design = np.repeat(np.eye(len(scores)), 3, axis=0)
    means, rest, _, _ = np.linalg.lstsq(design, scores.ravel(), rcond=None)
    freedom = scores.size - len(scores)
    errors = np.sqrt(rest / freedom * np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(curve["score"], means)
    np.testing.assert_allclose([curve["low"], curve["high"]], stats.t.interval(0.95, freedom, means, errors))
    assert all(variable.attrs["long_name"] for variable in curve.variables.values())


def test_finetuning_starts_from_the_pretrained_module_rescaled_with_new_layers():
    state, seen = small(9, classes=5).state_dict(), []

    def finetune(module, seed):
        seen.append((seed, {name: tensor.clone() for name, tensor in module.state_dict().items()}))

    choose_factor(small, state, finetune, lambda module: 0.0, which="all", head="fc", factors=[0.5], seeds=2)
    (half,) = (one for seed, one in seen if seed == 1 and not torch.equal(one["conv1.weight"], state["conv1.weight"]))
    assert torch.equal(half["conv1.weight"], state["conv1.weight"] / 2)
    assert torch.equal(half["bn1.weight"], state["bn1.weight"] / 2)
    assert torch.equal(half["bn1.running_var"], state["bn1.running_var"])
    assert torch.equal(half["fc.weight"], small(1).state_dict()["fc.weight"] / 2)


CALLS = []


class Cut(Exception):
    pass


def cut_off(after):
    """Known to the journal as the same function, whatever is `after`."""
    left = iter(range(after))

    def run(factor, seed):
        if next(left, None) is None:
            raise Cut
        CALLS.append((factor, seed))
        return -abs(np.log2(factor) + 2) + 0.1 * generator("toy", factor, seed, "own").normal()

    return run


def test_a_search_goes_on_where_it_was_cut_off(tmp_path):
    whole = search_factor(cut_off(99), progress=False)
    with pytest.raises(Cut):
        search_factor(cut_off(5), journal=tmp_path / "scores", progress=False)
    CALLS.clear()
    found = search_factor(cut_off(99), journal=tmp_path / "scores", progress=False)
    assert len(CALLS) == found.trainings - 5 == whole.trainings - 5
    assert found.sentence() == whole.sentence()
    assert found.curve.identical(whole.curve)


def test_scores_of_another_state_are_not_used(tmp_path):
    def search(state):
        def finetune(module, seed):
            CALLS.append(seed)

        CALLS.clear()
        how = {"journal": tmp_path / "scores", "progress": False}
        choose_factor(lambda seed: nn.Linear(1, 1), state, finetune, lambda net: -abs(net.weight.item() - 1), **how)
        return len(CALLS)

    state = {"weight": torch.tensor([[4.0]]), "bias": torch.zeros(1)}
    assert search(state) > 0
    assert search(state) == 0
    assert search({**state, "bias": torch.ones(1)}) > 0


def test_two_processes_find_what_one_finds():
    offset = torch.tensor(2.0)

    def run(factor, seed):  # in no module that another process could import
        return -abs(np.log2(factor) + offset.item()) + 0.01 * seed

    one, two = (search_factor(run, jobs=jobs, progress=False) for jobs in (1, 2))
    assert (two.factor, two.trainings, two.verdict) == (one.factor, one.trainings, one.verdict)
    assert two.curve.identical(one.curve)
