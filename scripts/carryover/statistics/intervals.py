"""Estimates with 95 % intervals and two-sided p-values: of means, medians and shares.

Each estimate is a dictionary of `statistic`, `low`, `high`, `p_value`, `interval` (the method, as text), and
`seeds` (the number of values).
"""

import numpy as np
from scipy import stats

LEVEL = 0.05
"""Significance level of a single test; intervals have the coverage 1 − LEVEL."""


def estimate_of(statistic, low, high, p_value, interval, seeds):
    """An estimate, as all functions of this module return it."""
    return {"statistic": statistic, "low": low, "high": high, "p_value": p_value, "interval": interval, "seeds": seeds}


def _finite(values):
    values = np.asarray(values, dtype=float)
    return values[np.isfinite(values)]


def student(values, bound, over="seeds"):
    """Mean of independent values, with Student's t interval and test.

    Values that are all equal say nothing about chance: the interval has no length and says so, and there is no p-value.

    Parameters
    ----------
    values : array_like, shape (n,)
        NaN are left out. Interval and p-value are NaN if fewer than two values remain.
    bound : float
        Mean under the null hypothesis.
    over : str
        Name of the independent units (seeds, cells, draws), in the plural.
    """
    values = _finite(values)
    mean, low, high, p_value = values.mean() if len(values) else np.nan, np.nan, np.nan, np.nan
    interval = f"Student's t over {over}"
    if len(values) > 1 and np.ptp(values) > 0:
        error, freedom = stats.sem(values), len(values) - 1
        low, high = stats.t.interval(1 - LEVEL, freedom, mean, error)
        p_value = 2 * stats.t.sf(abs(mean - bound) / error, freedom)
    elif len(values) > 1:  # the mean of equal numbers is rounded, and would differ from the bound by that alone
        mean, low, high, interval = values[0], values[0], values[0], f"none, all {over} are equal"
    return estimate_of(mean, low, high, p_value, interval, len(values))


def median(values, bound):
    """Median of independent values, with the interval of order statistics and the sign test.

    Both are valid for any distribution, also for one without a mean. They are NaN for fewer than six values, for which
    no such interval exists.

    Parameters
    ----------
    values : array_like, shape (n,)
        NaN are left out.
    bound : float
        Median under the null hypothesis.
    """
    values, low, high, p_value = _finite(values), np.nan, np.nan, np.nan
    if len(values) >= 6:
        test = stats.quantile_test(values, q=bound, p=0.5)
        (low, high), p_value = test.confidence_interval(1 - LEVEL), test.pvalue
    statistic = np.median(values) if len(values) else np.nan
    return estimate_of(statistic, low, high, p_value, "order statistics over seeds", len(values))


def wilson(values, bound, over="cells"):
    """Share of ones among independent zeros and ones, with Wilson's interval and the score test.

    Parameters
    ----------
    values : array_like, shape (n,)
        At least one value.
    bound : float
        Share under the null hypothesis, between 0 and 1.
    over : str
        Name of the independent units (seeds, cells, draws), in the plural.
    """
    count, ones = len(values), int(np.sum(values))
    low, high = stats.binomtest(ones, count).proportion_ci(1 - LEVEL, "wilson")
    p_value = 2 * stats.norm.sf(abs(ones / count - bound) / np.sqrt(bound * (1 - bound) / count))
    return estimate_of(ones / count, low, high, p_value, f"Wilson's over {over}, as if independent", count)


def exact(value, bound):
    """A number that was computed without any draw: the interval has no length, and there is no p-value."""
    return estimate_of(float(value), float(value), float(value), np.nan, "computed, not drawn", 0)


def holm(p_values):
    """P-values adjusted for multiple testing by Holm's procedure (1979).

    Parameters
    ----------
    p_values : array_like, shape (n,)
        NaN entries stand for tests that were not made: they are not counted, and stay NaN.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Adjusted p-values, in the order of `p_values`.
    """
    p_values = np.array(p_values, dtype=float)
    order = np.argsort(p_values)[: np.isfinite(p_values).sum()]  # argsort puts NaN last
    # The k-th smallest of m p-values is multiplied by m − k + 1, and none is smaller than those before it.
    p_values[order] = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)).clip(max=1)
    return p_values
