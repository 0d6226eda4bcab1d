"""Choosing a factor: on scores whose best factor is known, and on a network that is finetuned."""

import math

import numpy as np
import pytest
import torch
from scipy import stats

from carryover.diagnosis.rescaling import choose_factor
from carryover.diagnosis.search import search_factor
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


def flat(number):
    return lambda factor, seed: generator("flat", [number, factor], seed, "noise").normal()


@pytest.mark.extended
def test_noise_alone_is_rarely_said_to_help():
    found = [search_factor(flat(number), progress=False) for number in range(200)]
    verdicts = [choice.verdict for choice in found]
    assert verdicts.count("helps") <= stats.binom.ppf(0.999, 200, 0.025)
    assert all((choice.recommended == choice.factor) == (choice.verdict in ("helps", "none")) for choice in found)


def test_the_grid_is_extended_while_the_best_factor_is_at_its_end():
    found = search_factor(noisy(2.0**-7, 0.01), factors=(0.5, 1.0), extensions=10)
    assert found.factor == pytest.approx(2.0**-7)
    assert "was at an end of the grid, which was extended by 0.25 and 0.125 and 0.0625" in found.notes[0]
    bound = search_factor(noisy(2.0**-7, 0.01), factors=(0.5, 1.0), refinements=0)
    assert bound.factor == 0.125
    assert "No smaller one was tried." in bound.sentence()
    assert search_factor(noisy(2.0**-7, 0.01), factors=(0.5, 1.0), extensions=0, refinements=0).factor == 0.5


def test_a_score_that_is_not_finite_counts_as_the_worst_and_is_told():
    for bad in (math.nan, math.inf, -math.inf):
        run = noisy(0.25, 0.01)
        found = search_factor(lambda factor, seed, run=run, bad=bad: bad if factor > 1 else run(factor, seed))
        assert (found.factor, found.verdict) == (0.25, "helps")
        assert "2 of 22 scores were not finite (factor 4): they count as the lowest." in found.notes
        assert int(found.curve["not_finite"].sel(factor=4)) == 2
        assert np.isfinite(found.curve["score"]).all()


def test_scores_that_do_not_tell_factors_apart_are_named():
    """The F test against the model comparison that it is: scores by seed alone, or by seed and factor."""
    assert "All factors score the same" in search_factor(lambda factor, seed: 0.1 * seed).notes[0]
    for number in range(20):
        notes = search_factor(flat(number), extensions=0, refinements=0, seeds=3, progress=False).notes
        scores = np.array([[flat(number)(factor, seed) for factor in (0.0625, 0.25, 1, 4)] for seed in range(3)])
        by_seed = ((scores - scores.mean(1, keepdims=True)) ** 2).sum()
        by_both = ((scores - scores.mean(1, keepdims=True) - scores.mean(0) + scores.mean()) ** 2).sum()
        p = stats.f.sf((by_seed - by_both) / 3 / (by_both / 6), 3, 6)
        assert any("do not tell factors apart" in note for note in notes) == (p > 0.05)


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
    with pytest.raises(ValueError, match="rates must be finite numbers above 0"):
        search_factor(rated(0.1, 0.0), rates=(0.0,))


@pytest.mark.extended
def test_a_factor_is_rarely_said_to_beat_a_rate_that_gains_as_much():
    def run(number, factor, seed, rate):
        return 1.5 * (factor == 0.25 or rate == 2) + generator("r", [number, factor, rate], seed, "own").normal()

    def verdict(number):
        return search_factor(lambda factor, seed, rate: run(number, factor, seed, rate), progress=False).verdict

    verdicts = [verdict(number) for number in range(60)]
    assert verdicts.count("rate") >= 20
    assert verdicts.count("helps") <= stats.binom.ppf(0.999, 60, 0.025)


def test_the_curve_has_means_and_intervals_of_the_seeds_that_chose():
    run = noisy(0.5, 2.0)
    curve = search_factor(run, fresh_seeds=4, progress=False).curve
    values = {
        float(row): [run(float(row), seed) for seed in range(int(curve["seeds"].sel(factor=row)))]
        for row in curve["factor"]
    }
    assert len({len(scores) for scores in values.values()}) > 1
    # Ordinary least squares on one column per factor has the same intervals.
    rows = [(list(values).index(factor), score) for factor, scores in values.items() for score in scores]
    design = np.eye(len(values))[[row for row, _ in rows]]
    means, rest, _, _ = np.linalg.lstsq(design, np.array([score for _, score in rows]), rcond=None)
    freedom = len(rows) - len(values)
    errors = np.sqrt(rest / freedom * np.diag(np.linalg.inv(design.T @ design)))
    np.testing.assert_allclose(curve["score"], means)
    np.testing.assert_allclose([curve["low"], curve["high"]], stats.t.interval(0.95, freedom, means, errors))
    assert all(variable.attrs["long_name"] for variable in curve.variables.values())


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
