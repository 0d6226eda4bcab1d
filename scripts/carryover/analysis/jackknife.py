"""Intervals of a statistic whose data share what they were drawn of, as pairs of tasks share classes of images.

Each class in turn is left out with all pairs that have it. Between classes that were drawn independently this counts
all that pairs have in common, and chance that is a pair's own more than once: an interval of few pairs is too wide and
never too narrow, up to some 2½ times where each has four of ten classes and nothing else in common.
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


DIFFERENCE = Scale(np.asarray, np.asarray)
R_SQUARED = Scale(lambda value: np.arctanh(np.sqrt(np.minimum(value, 1 - 1e-15))), lambda z: np.tanh(z) ** 2, 0.0)
SHARE = Scale(lambda value: np.arcsin(np.sqrt(value)), lambda angle: np.sin(angle) ** 2, 0.0, np.pi / 2)


def estimate(values, statement, bound, scale=DIFFERENCE, over="classes"):
    """Columns of a claim, as `intervals.student` gives them, of a statistic of all data and without each of K classes.

    Args:
        values: (1 + K,), the first of all data.
        statement, bound: of the claim.
        scale: on which interval and p-value are Student's, with K − 1 degrees of freedom.
        over: what is left out, in words.

    Interval and p-value are NaN where a value is, or K is below 2.
    """
    whole, *rest = scale.forward(np.asarray(values, dtype=float)).tolist()
    rest, count = np.array(rest), len(rest)
    columns = {"statistic": float(values[0]), "deviation": np.nan, "seeds": count, "interval": f"jackknife over {over}"}
    if count < 2 or not np.isfinite([whole, *rest]).all():
        return columns | dict.fromkeys(("low", "high", "p_value"), np.nan)
    error = np.sqrt((count - 1) / count * ((rest - rest.mean()) ** 2).sum())
    if error == 0:  # and not a value that the way there and back has rounded
        return columns | {"low": columns["statistic"], "high": columns["statistic"],
                          "p_value": float(columns["statistic"] == bound)}  # fmt: skip
    half, distance = special.stdtrit(count - 1, 1 - LEVEL / 2) * error, abs(whole - float(scale.forward(bound)))
    low, high = scale.back(np.clip([whole - half, whole + half], scale.lowest, scale.highest)).tolist()
    return columns | {"low": low, "high": high, "p_value": 2 * special.stdtr(count - 1, -distance / error)}
