"""Holm's procedure, and the seeds that a test needs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from carryover.statistics.intervals import LEVEL
from carryover.statistics.testing import holm, seeds_needed


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_decide_as_holms_steps(p_values):
    adjusted = holm([*p_values, np.nan])
    assert np.isnan(adjusted[-1])
    ranked = np.sort(p_values)
    missed = [p for k, p in enumerate(ranked) if p > LEVEL / (len(ranked) - k)]
    below = min(missed, default=2)
    near = np.isclose(adjusted[:-1], LEVEL, rtol=1e-9)  # rounding decides there
    assert ((adjusted[:-1] <= LEVEL) == (np.array(p_values) < below))[~near].all()


@pytest.mark.extended
@pytest.mark.parametrize(("effect", "level"), [(0.5, 0.05), (1.5, 0.05), (1.5, 0.01)])
def test_the_seeds_that_are_needed_decide_four_times_in_five(effect, level):
    needed = seeds_needed(effect, level)
    rng = np.random.default_rng(0)

    def decided(seeds):
        runs = rng.normal(effect, 1.0, size=(20_000, int(seeds)))
        found = stats.ttest_1samp(runs, 0.0, axis=1)
        return ((found.pvalue < level) & (found.statistic > 0)).mean()

    assert decided(needed) > 0.79
    assert decided(needed - 1) < 0.81
