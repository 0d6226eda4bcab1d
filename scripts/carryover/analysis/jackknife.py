"""Intervals of a statistic whose data share what they were drawn of, as pairs of tasks share classes of images.

Each class in turn is left out with all pairs that have it. Between classes that were drawn independently this counts
all that pairs have in common, and chance that is a pair's own more than once: an interval of few pairs is too wide, up
to some 2½ times where each has four of ten classes and nothing else in common. In simulations with ten classes
(tests/analysis/test_jackknife.py) intervals of R² and of its differences hold the truth in 95 % or more, also where
errors are effects of classes alone.

Shares are steps of R², and near 0 and 1 they hardly change without a class, so that the jackknife of shares alone holds
the truth in 87 % there, and less near 0 and 1. Their variance is the jackknife's and that of a share of half as many
independent draws as there are classes: found by simulation, it holds the truth in 96 % or more there and where pairs
have more of their own, for shares from 0 to 1. It has no derivation.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special  # stats would take a second more of every job

from carryover.analysis.intervals import LEVEL


class Scale(NamedTuple):
    """On which a statistic's spread hardly hangs on its value; `forward` leads there, `back` from there."""

    forward: Callable
    back: Callable
    lowest: float = -np.inf  # there
    highest: float = np.inf
    least: float = 0.0  # variance, times the number of classes, that is added to the jackknife's


DIFFERENCE = Scale(np.asarray, np.asarray)
R_SQUARED = Scale(lambda value: np.arctanh(np.sqrt(np.minimum(value, 1 - 1e-15))), lambda z: np.tanh(z) ** 2, 0.0)
SHARE = Scale(lambda value: np.arcsin(np.sqrt(value)), lambda angle: np.sin(angle) ** 2, 0.0, np.pi / 2, 0.5)

WHOLE_SHARE = Scale(np.asarray, np.asarray, 0.0, 1.0)
"""Of shares of many things, of which leaving out a class changes every one a little, and not which there are."""


def estimate(values, statement, bound, scale=DIFFERENCE, over="classes"):
    """Columns of a claim, as `intervals.student` gives them, of a statistic of all data and without each of K classes.

    Args:
        values: (1 + K,), the first of all data.
        statement, bound: of the claim.
        scale: on which interval and p-value are Student's, with K − 1 degrees of freedom.
        over: what is left out, in words.

    Interval and p-value are NaN where a value is, or K is below 2; `interval` says so.
    """
    whole, *rest = scale.forward(np.asarray(values, dtype=float)).tolist()
    rest, count = np.array(rest), len(rest)
    columns = {"statistic": float(values[0]), "deviation": np.nan, "seeds": count, "interval": f"jackknife over {over}"}
    if count < 2 or not np.isfinite([whole, *rest]).all():
        lacking = f" without one of the {over}" if np.isfinite(whole) else ""
        return columns | dict.fromkeys(("low", "high", "p_value"), np.nan) | {"interval": f"none: no value{lacking}"}
    error = np.sqrt((count - 1) / count * ((rest - rest.mean()) ** 2).sum() + scale.least / count)
    if error == 0:  # and not a value that the way there and back has rounded
        return columns | {"low": columns["statistic"], "high": columns["statistic"],
                          "p_value": float(columns["statistic"] == bound)}  # fmt: skip
    half, distance = special.stdtrit(count - 1, 1 - LEVEL / 2) * error, abs(whole - float(scale.forward(bound)))
    low, high = scale.back(np.clip([whole - half, whole + half], scale.lowest, scale.highest)).tolist()
    return columns | {"low": low, "high": high, "p_value": 2 * special.stdtr(count - 1, -distance / error)}
