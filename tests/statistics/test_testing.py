"""Holm's procedure."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.statistics.intervals import LEVEL
from carryover.statistics.testing import holm


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
