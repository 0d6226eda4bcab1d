"""What claims share whose runs are every seed on every task: intervals that count both as drawn at random."""

import numpy as np

from carryover.claims import _interval
from carryover.crossed import interval

MEANINGS = {
    "statistic": "mean over seeds and tasks",
    "low": "lower end of its 95 % interval (bootstrap over seeds and tasks)",
    "high": "upper end of its 95 % interval (bootstrap over seeds and tasks)",
    "tasks": "tasks that the statistic is a mean over",
}


def table(claims):
    """Dataset over `claim` from tuples (name, statement, DataFrame of values, seeds by tasks, bound)."""
    # Names, statements, bounds and numbers of seeds are those of other claims; the intervals over seeds are replaced.
    found = _interval.table([(name, text, values.mean(axis=1), bound) for name, text, values, bound in claims])
    means, lows, highs = np.transpose([interval(values, statement) for _, statement, values, _ in claims])
    verdicts = [_interval.verdict(*ends) for ends in zip(lows, highs, found["bound"].values, strict=True)]
    tasks = [np.isfinite(values).any(axis=0).sum() for _, _, values, _ in claims]
    columns = {"statistic": means, "low": lows, "high": highs, "tasks": np.array(tasks)}
    for name, column in columns.items():
        found[name] = ("claim", column, {"long_name": MEANINGS[name], "units": "1"})
    return found.assign(verdict=("claim", np.array(verdicts), found["verdict"].attrs))
