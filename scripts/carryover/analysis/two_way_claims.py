"""What claims share whose runs are every seed on every task: intervals that count both as drawn at random."""

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.two_way import errors, interval, p_value


def table(claims, section, measured):
    """`_interval.table` of claims whose values are DataFrames, seeds by tasks."""
    return intervals.table(claims, section, measured, _estimate)


def _estimate(values, statement, bound):
    """Mean over seeds and tasks with its interval and p-value, and the spread of seeds on these tasks."""
    known = np.isfinite(np.asarray(values, dtype=float))
    mean, low, high = interval(values)
    found = errors(values)[1]
    error, freedom = found.get("seeds", (np.nan, 0))
    drawn = " and ".join(name for name in ("seeds", "tasks") if name in found)
    return {
        "statistic": mean, "low": low, "high": high, "p_value": p_value(values, bound),
        "deviation": error * np.sqrt(freedom + 1), "interval": f"Student's t over {drawn or 'seeds'}",
        "seeds": known.any(axis=1).sum(), "tasks": known.any(axis=0).sum(),
    }  # fmt: skip
