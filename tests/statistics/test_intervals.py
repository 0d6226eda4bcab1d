"""Intervals and p-values against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from carryover.statistics import intervals


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12).filter(lambda values: np.ptp(values) > 1e-3),
       st.floats(-1e3, 1e3))  # fmt: skip
def test_interval_and_p_value_are_those_of_the_t_test_and_agree(values, bound):
    found = intervals.student([*values, np.nan], bound)
    expected = stats.ttest_1samp(values, bound)
    ends = expected.confidence_interval(0.95)
    np.testing.assert_allclose([found["low"], found["high"]], [ends.low, ends.high], rtol=1e-9, atol=1e-9)
    assert found["p_value"] == pytest.approx(expected.pvalue, rel=1e-6)
    if abs(found["p_value"] - 0.05) > 1e-9:
        decided = found["low"] > bound or found["high"] < bound
        assert decided == (found["p_value"] < 0.05)


@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=40, unique=True), st.floats(-1e3, 1e3))
def test_the_p_value_of_a_median_is_that_of_the_sign_test(values, bound):
    if bound in values:
        return
    found = intervals.median([*values, np.nan], bound)
    above = sum(value > bound for value in values)
    assert found["p_value"] == pytest.approx(stats.binomtest(above, len(values), 0.5).pvalue)
    assert found["statistic"] == np.median(values)
    assert found["seeds"] == len(values)
    fewer = np.flatnonzero(stats.binom.cdf(np.arange(len(values)), len(values), 0.5) <= 0.025)[-1]
    assert [found["low"], found["high"]] == [sorted(values)[fewer], sorted(values)[-1 - fewer]]


@pytest.mark.parametrize(("ones", "n"), [(0, 5), (5, 5), (17, 20), (100, 195)])
def test_intervals_of_shares_end_where_a_share_would_be_refused(ones, n):
    values = np.arange(n) < ones
    found = intervals.wilson(values, 0.8)
    for end in {found["low"], found["high"]} - {0.0, 1.0}:
        assert intervals.wilson(values, end)["p_value"] == pytest.approx(0.05)
    decided = found["low"] > 0.8 or found["high"] < 0.8
    assert decided == (found["p_value"] < 0.05)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_decide_as_holms_steps(p_values):
    adjusted = intervals.holm([*p_values, np.nan])
    assert np.isnan(adjusted[-1])
    ranked = np.sort(p_values)
    missed = [p for k, p in enumerate(ranked) if p > intervals.LEVEL / (len(ranked) - k)]
    below = min(missed, default=2)
    near = np.isclose(adjusted[:-1], intervals.LEVEL, rtol=1e-9)  # rounding decides there
    assert ((adjusted[:-1] <= intervals.LEVEL) == (np.array(p_values) < below))[~near].all()
