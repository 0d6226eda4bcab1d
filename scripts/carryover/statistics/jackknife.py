"""The delete-a-group jackknife, for statistics of dependent data: pairs of tasks that share classes of images.

Each class is deleted in turn, with all pairs that contain it. If classes are drawn independently, the variance includes
all that pairs have in common. What is specific to a pair is counted more than once, so that an interval of few pairs is
up to 2½ times too wide. In simulations with ten classes (tests/statistics/test_jackknife.py) intervals of R² and of its
differences cover the truth in 95 % or more, also where errors are effects of classes alone.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import stats

from carryover.statistics.intervals import LEVEL, estimate_of


class Scale(NamedTuple):
    """A variance-stabilising transformation, its inverse, and the range of the transformed statistic."""

    transform: Callable
    inverse: Callable
    lowest: float = -np.inf
    highest: float = np.inf


DIFFERENCE = Scale(np.asarray, np.asarray)
R_SQUARED = Scale(lambda value: np.arctanh(np.sqrt(np.minimum(value, 1 - 1e-15))), lambda z: np.tanh(z) ** 2, 0.0)
PROPORTION = Scale(np.asarray, np.asarray, 0.0, 1.0)
"""For shares of so many things that each deletion changes them a little."""


def estimate(values, bound, scale=DIFFERENCE, over="classes"):
    """Jackknife interval and test of a statistic, by Student's t with K − 1 degrees of freedom.

    A statistic that no group changes says nothing about chance: the interval has no length and says so, and there is no
    p-value.

    Parameters
    ----------
    values : array_like, shape (1 + K,)
        The statistic of all data, then leaving out each of K groups.
    bound : float
        Value under the null hypothesis.
    scale : Scale
        Scale on which Student's t is applied.
    over : str
        Name of the groups, in the plural.

    Returns
    -------
    dict
        As `intervals.estimate_of` returns it. Interval and p-value are NaN if a value is not finite, or if K < 2.
    """
    statistic, method = float(values[0]), f"jackknife over {over}"
    whole, *rest = scale.transform(np.asarray(values, dtype=float)).tolist()
    rest, count = np.array(rest), len(rest)
    if count < 2 or not np.isfinite([whole, *rest]).all():
        lacking = f" without one of the {over}" if np.isfinite(whole) else ""
        return estimate_of(statistic, np.nan, np.nan, np.nan, f"none: no value{lacking}", count)
    error = np.sqrt((count - 1) / count * ((rest - rest.mean()) ** 2).sum())
    if error == 0:  # not transformed and back, which would round the statistic
        return estimate_of(statistic, statistic, statistic, np.nan, f"none, all {over} are equal", count)
    half, distance = stats.t.ppf(1 - LEVEL / 2, count - 1) * error, abs(whole - float(scale.transform(bound)))
    low, high = scale.inverse(np.clip([whole - half, whole + half], scale.lowest, scale.highest)).tolist()
    return estimate_of(statistic, low, high, 2 * stats.t.sf(distance / error, count - 1), method, count)


def leave_one_out(statistic, units):
    """Values of a statistic of all units, then leaving out each of them, if there are several.

    Parameters
    ----------
    statistic : callable
        Takes a list of units.
    units : iterable
        What is drawn independently: seeds, or groups of them.
    """
    units = list(units)
    parts = [[other for other in units if other != unit] for unit in units if len(units) > 1]
    return [statistic(part) for part in (units, *parts)]


def pseudovalues(values):
    """Pseudovalues bθ − (b − 1)θ_i of a statistic (B. Efron and R. Tibshirani, "An introduction to the bootstrap",
    chapter 11): their mean is the statistic without its bias of order 1/b.

    Parameters
    ----------
    values : array_like, shape (1 + b,)
        The statistic θ of all data, then θ_i leaving out each of b groups, as `leave_one_out` returns them.

    Returns
    -------
    numpy.ndarray, shape (b,)
        One NaN if there was one group, which is not left out.
    """
    whole, rest = values[0], np.array(values[1:])
    return len(rest) * whole - (len(rest) - 1) * rest if len(rest) else np.array([np.nan])


def interval(values, confidence):
    """(low, high) of Student's interval of pseudovalues.

    Parameters
    ----------
    values : array_like, shape (1 + b,)
        The statistic of all data, then leaving out each of b groups.
    confidence : float
        Coverage of the interval. It is NaN where a value is.
    """
    found = pseudovalues(values)
    half = stats.t.ppf((1 + confidence) / 2, len(found) - 1) * stats.sem(found)
    return float(found.mean() - half), float(found.mean() + half)
