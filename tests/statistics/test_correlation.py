"""Rank correlations are SciPy's."""

import numpy as np
import pytest
from scipy import stats

from carryover.statistics.correlation import rank_correlation


@pytest.mark.parametrize("weights", [None, [1, 2, 3]])
def test_rank_correlation_is_spearmans_of_points_as_often_as_they_weigh(weights):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 60).astype(float)
    y = x + rng.normal(size=60) * 4
    x[0], y[1] = np.inf, -np.inf
    count = np.ones(60, int) if weights is None else rng.choice(weights, 60)
    expected = stats.spearmanr(np.repeat(x, count), np.repeat(y, count)).statistic
    assert rank_correlation(x, y, count) == pytest.approx(expected)
    x = np.append(x, np.nan)
    assert rank_correlation(x, np.append(y, 1.0), np.append(count, 5)) == pytest.approx(expected)
    assert np.isnan(rank_correlation(np.ones(4), np.arange(4.0), np.ones(4)))
    assert np.isnan(rank_correlation([np.nan], [1.0], [1.0]))
