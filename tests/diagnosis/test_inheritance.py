"""Measures against closed forms, sampling, brute force, and other functions of the library."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.linear_model import Ridge
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from carryover.diagnosis import inheritance
from carryover.diagnosis.diagnosis import Parameters, diagnose
from carryover.diagnosis.inheritance import components
from carryover.measures.dimensionality import cka, ensd
from carryover.statistics import jackknife
from toy import diagnosed_networks as networks

RNG = np.random.default_rng(0)


def blocks(samples):
    return np.random.default_rng(1).permutation(samples) % 20


def related(samples, rng, correlations=(0.9, 0.6, 0.3, 0.0)):
    """Normal features before and after with these canonical correlations, of unequal variances."""
    rho = np.array(correlations)
    x, noise = rng.standard_normal((2, samples, len(rho)))
    scale = np.geomspace(1, 3, len(rho))
    return x * scale, (rho * x + np.sqrt(1 - rho**2) * noise) * scale[::-1]


def test_the_r2_is_the_mean_squared_canonical_correlation():
    X, Y = related(20_000, RNG)
    old, new = (components(values, 0.999) for values in (X, Y))
    truth = np.mean(np.square([0.9, 0.6, 0.3, 0.0]))
    for found in (
        inheritance.predict_from_all(old, new, blocks(20_000)),
        inheritance.predict_from_visible(new, old, blocks(20_000)),
    ):
        assert found.r2 == pytest.approx(truth, abs=0.01)


def test_held_out_errors_are_those_of_scikit_learn_with_the_best_penalty():
    """All penalties are tried: with one loud predictor among 80 the errors rise before they fall."""
    X, noise = np.random.default_rng(4).standard_normal((2, 120, 80)) * np.r_[1000, np.ones(79)]
    Y = 0.1 * noise / noise.std(axis=0) + X / X.std(axis=0)
    Y, block = Y / Y.std(axis=0), blocks(120)
    folds = PredefinedSplit(block % inheritance.FOLDS)
    errors = [
        np.square(Y - cross_val_predict(Ridge(10.0**power * 120 * X.var(axis=0).max()), X, Y, cv=folds))
        for power in (2, 0, -1, -2, -3, -4, -5, -6, -8)
    ]
    means = [values.mean() for values in errors]
    best = int(np.argmin(means))
    assert max(np.diff(means[:best])) > 0
    found = inheritance.errors(X, Y, block)
    np.testing.assert_allclose(found.full.mean(axis=1), errors[best].mean(axis=1), rtol=1e-6)


def test_shares_weighted_by_variance_count_a_loud_feature_for_what_it_holds():
    """One feature with half of the variance stays and 19 are drawn anew."""
    old, new = networks.features(3000, 20), networks.features(3000, 20, seed=9)
    loud = np.r_[19**0.5, np.ones(19)]
    after = np.hstack([old[:, :1], new[:, 1:]]) * loud
    found = diagnose(networks.mixed(old * loud, 50), networks.mixed(after, 50, seed=1), p=Parameters(variance=0.999))
    assert found["kept_share"].item() == pytest.approx(1 / 20, abs=0.02)
    assert found["kept_weighted"].item() == pytest.approx(1 / 2, abs=0.02)
    assert found["kept_weighted_low"].item() < 0.5 < found["kept_weighted_high"].item()


@pytest.mark.extended
def test_intervals_hold_the_share_as_often_as_they_say():
    truth, hits, draws = np.mean(np.square([0.9, 0.6, 0.3, 0.0])), 0, 150
    rng = np.random.default_rng(3)
    for _ in range(draws):
        old, new = (components(values, 0.999) for values in related(1000, rng))
        low, high = jackknife.interval(
            inheritance.shares(inheritance.predict_from_all(old, new, blocks(1000)), None, blocks(1000))[0], 0.95
        )
        hits += low < truth < high
    assert stats.binom.ppf(0.001, draws, 0.93) <= hits <= stats.binom.ppf(0.9999, draws, 0.97)


def test_components_count_until_they_hold_the_share_and_what_one_direction_hides_counts_too():
    assert components(RNG.standard_normal((4000, 10)), 0.99).counted == 10
    loud = RNG.standard_normal((4000, 10)) * np.r_[40, np.ones(9)]
    found = components(loud, 0.99)
    assert (found.counted, found.seen) == (10, 10)
    assert found.dominant == pytest.approx(1600 / 1609, abs=0.005)
    faded = RNG.standard_normal((4000, 10)) * np.r_[np.ones(9), 0.1]
    assert (components(faded, 0.99).counted, components(faded, 0.99).seen) == (9, 10)


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.integers(30, 60), st.integers(2, 70), st.integers(0, 1000))
def test_components_are_a_singular_value_decomposition(samples, units, seed):
    X = np.random.default_rng(seed).standard_normal((samples, units))
    found = components(X, 0.99)
    centred = X - X.mean(axis=0)
    squares = np.linalg.svd(centred, compute_uv=False) ** 2
    np.testing.assert_allclose(found.variances, (squares / squares.sum())[: len(found.variances)], rtol=1e-6)
    np.testing.assert_allclose(found.scores.T @ found.scores / samples, np.eye(found.scores.shape[1]), atol=1e-6)
    if samples <= units:
        weighted = found.variance_scores * np.sqrt(squares.sum() / samples)
        np.testing.assert_allclose(weighted @ weighted.T, centred @ centred.T, atol=1e-6)


def test_reweighting_is_the_typical_change_of_variances():
    X = RNG.standard_normal((2000, 10))
    old, kept = components(X, 0.999), np.ones(10)
    half = components(X * np.r_[np.full(5, 3.0), np.ones(5)], 0.999)
    for new, expected in ((old, 1), (components(7 * X[:, ::-1], 0.999), 1), (half, 3)):
        values = inheritance.reweighting(old, new, kept.mean(), blocks(2000))
        np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_without_a_baseline_cka_and_ensd_stand_beside_their_means_over_permutations():
    X, Y = networks.pretrained(200, count=6, units=10), networks.selected(200, count=6, units=10)
    found = diagnose({"a": X}, {"a": Y})
    orders = [np.random.default_rng(seed).permutation(200) for seed in range(300)]
    for name, measure in (("cka", cka), ("ensd", ensd)):
        values = [measure(X, Y[order]) for order in orders]
        assert found[f"{name}_reference"].item() == pytest.approx(np.mean(values), abs=3 * stats.sem(values))
