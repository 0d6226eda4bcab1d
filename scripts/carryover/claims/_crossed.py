"""What claims share whose runs are every seed on every task: intervals that count both as drawn at random."""

import numpy as np

from carryover.claims import _interval
from carryover.crossed import interval, resampled


def table(claims, paper, section, measured):
    """`_interval.table` of claims whose values are DataFrames, seeds by tasks."""
    return _interval.table(claims, paper, section, measured, _estimate)


def _estimate(values, statement, bound):
    """Mean over seeds and tasks with its bootstrap interval, and a p-value from the same draws, two-sided."""
    known, means = np.isfinite(np.asarray(values, dtype=float)), resampled(values, statement)
    mean, low, high = interval(values, statement)
    share = min((means <= bound).mean(), (means >= bound).mean()) if len(means) else np.nan
    # So many draws cannot show a smaller probability.
    p_value = np.clip(2 * share, 1 / len(means), 1) if len(means) else np.nan
    return {
        "statistic": mean, "low": low, "high": high, "p_value": p_value, "deviation": np.nan,
        "interval": "bootstrap over seeds and tasks", "seeds": known.any(axis=1).sum(),
        "tasks": known.any(axis=0).sum(),
    }  # fmt: skip
