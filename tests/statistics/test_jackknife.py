"""Intervals over classes are the t test's of a plain mean, and cover the truth where pairs share classes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from carryover.analysis.image_pairs import leave_one_class_out
from carryover.statistics import jackknife
from toy.shared_classes import table


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12).filter(lambda values: np.ptp(values) > 1e-3),
       st.floats(-1e3, 1e3))  # fmt: skip
def test_of_a_mean_it_is_the_t_test(values, bound):
    left_out = [np.mean([*values[:place], *values[place + 1 :]]) for place in range(len(values))]
    found = jackknife.estimate([np.mean(values), *left_out], bound)
    expected = stats.ttest_1samp(values, bound)
    ends = expected.confidence_interval(0.95)
    np.testing.assert_allclose([found["low"], found["high"]], [ends.low, ends.high], rtol=1e-7, atol=1e-7)
    assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-5)
    assert found["seeds"] == len(values)
    ends = expected.confidence_interval(0.9)
    low, high = jackknife.interval([np.mean(values), *left_out], 0.9)
    np.testing.assert_allclose([low, high], [ends.low, ends.high], rtol=1e-7, atol=1e-7)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=12), st.floats(0.01, 0.99))
def test_shares_stay_shares_and_p_values_agree_with_intervals(values, bound):
    for scale in (jackknife.R_SQUARED, jackknife.PROPORTION):
        np.testing.assert_allclose(scale.inverse(scale.transform(np.array(values))), values, atol=1e-12)
        found = jackknife.estimate(values, bound, scale)
        assert 0 <= found["low"] <= found["statistic"] + 1e-12
        assert found["statistic"] <= found["high"] + 1e-12
        assert found["high"] <= 1
        if np.isfinite(found["p_value"]):
            assert (found["low"] > bound or found["high"] < bound) == (found["p_value"] < 0.05)


def test_what_is_not_known_has_no_interval():
    for values in ([0.5], [0.5, 0.4], [0.5, 0.4, np.nan, 0.6]):
        found = jackknife.estimate(values, 0.0)
        assert np.isnan([found["low"], found["high"], found["p_value"]]).all()
        assert (found["statistic"], found["interval"]) == (0.5, "none: no value without one of the classes")
    same = jackknife.estimate([0.5] * 5, 0.25, jackknife.R_SQUARED, "seeds")
    np.testing.assert_equal([same["low"], same["high"], same["p_value"]], [0.5, 0.5, np.nan])
    assert same["interval"] == "none, all seeds are equal"


def test_pseudovalues_of_a_function_of_a_mean_have_its_value_and_error():
    rng = np.random.default_rng(0)
    values = pd.Series(2 + 0.1 * rng.standard_normal(40))
    found = jackknife.pseudovalues(jackknife.leave_one_out(lambda seeds: np.log(values[seeds].mean()), values.index))
    assert found.mean() == pytest.approx(np.log(values.mean()), abs=1e-3)
    assert found.std(ddof=1) == pytest.approx(values.std() / values.mean(), rel=0.05)  # the delta method


def _covered(values, truth, scale):
    ends = [jackknife.estimate(value, truth, scale) for value in values]
    return sum(end["low"] <= truth <= end["high"] for end in ends)


@pytest.mark.extended
@pytest.mark.parametrize("pairs", [20, None], ids=["20 pairs", "all pairs"])
@pytest.mark.parametrize("sizes", [(1, 0, 0), (0.6, 0.6, 0.5), (0, 0, 1)], ids=["classes", "all", "pairs"])
def test_it_covers_the_truth_where_pairs_share_classes(pairs, sizes):
    rng, copies = np.random.default_rng(0), 300
    found = leave_one_class_out(table(rng, sizes, 0.8, pairs, copies)).squeeze("samples")
    one, other = (
        found.sel(bound=bound).transpose("estimator", "left_out").values for bound in ("covariance", "distance")
    )
    truths = ((one - other, 0.0, jackknife.DIFFERENCE), (one, 0.8**2, jackknife.R_SQUARED))
    for values, truth, scale in truths:
        covered = _covered(values, truth, scale)
        assert stats.binomtest(covered, copies, 0.95, alternative="less").pvalue > 0.01, covered
        # An interval over seeds or pairs, as if pairs shared nothing, would not: their classes are ten.
        if pairs is None and sizes[0] == 1:
            assert covered < 0.99 * copies
