"""Errors of kernel regression on samples that are left out, and how two of them differ."""

import numpy as np
import pytest
from scipy import stats
from sklearn.kernel_ridge import KernelRidge

from carryover.diagnosis.arms import REINITIALISATIONS
from carryover.statistics.held_out import compare_errors, predict_held_out


def test_every_sample_is_predicted_from_the_others():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))
    found = predict_held_out([X @ X.T], y)

    def leave_out(strength):
        predicted = []
        for sample in range(30):
            rest = np.delete(np.arange(30), sample)
            centre, mean = X[rest].mean(0), y[rest].mean(0)
            ridge = KernelRidge(alpha=strength).fit(X[rest] - centre, y[rest] - mean)
            predicted.append(ridge.predict(X[[sample]] - centre)[0] + mean)
        return np.array(predicted)

    scale = ((X - X.mean(0)) ** 2).sum() / 29
    best = min(map(leave_out, scale * np.logspace(-8, 4, 25)), key=lambda one: ((one - y) ** 2).sum())
    np.testing.assert_allclose(found.errors, ((y - best) ** 2).sum(1), rtol=1e-6)


def test_where_nothing_is_learnt_no_class_is_preferred():
    classes = np.eye(2)[np.arange(40) % 2]
    found = predict_held_out([np.ones((40, 40))], classes)
    np.testing.assert_allclose(found.predictions, 0.5, atol=1e-9)


def test_intervals_of_ratios_cover_the_truth():
    """Errors χ²₁, correlated between the two, of which the second are half as large: 95 % of 400 intervals."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(400):
        common, first, second = rng.standard_normal((3, 100))
        found = compare_errors([(common + first) ** 2], [(common + second) ** 2 / 2], 0.95)
        covered += found.low < np.log10(2) < found.high
    assert stats.binomtest(covered, 400, 0.95).pvalue > 1e-3


def test_networks_drawn_anew_widen_the_interval_and_more_samples_narrow_it():
    rng = np.random.default_rng(2)
    one, other = rng.standard_normal((2, 200)) ** 2
    same = compare_errors([one], [other], 0.95)
    assert compare_errors([one, 4 * one], [other], 0.95).high - np.log10(2.5) > same.high
    half = (same.high - same.low) / 2
    assert same.more_samples == pytest.approx(200 * ((half / same.value) ** 2 - 1), rel=0.05)
    assert compare_errors([one], [one], 0.95).more_samples == np.inf


@pytest.mark.parametrize("spread", [0.0, 0.2, 1.0])
def test_a_network_that_is_drawn_like_the_others_is_rarely_told_from_them(spread):
    """In 5 % of 800 intervals, whether samples or networks make the difference; in far more of those of the mean."""
    rng = np.random.default_rng(3)
    wrong = {True: 0, False: 0}
    for _ in range(800):
        levels = np.exp(spread * rng.standard_normal((REINITIALISATIONS + 1, 1)))
        own, *others = levels * (rng.standard_normal(60) + 0.3 * rng.standard_normal((len(levels), 60))) ** 2
        for of_next in wrong:
            found = compare_errors(others, [own], 0.95, of_next)
            wrong[of_next] += found.low > 0 or found.high < 0
    assert stats.binomtest(wrong[True], 800, 0.05, alternative="greater").pvalue > 0.01
    assert spread == 0 or wrong[False] > 200
