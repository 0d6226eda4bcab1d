"""Runs of every seed on every task: their tables, and intervals of means that count seeds and tasks as drawn."""

import numpy as np
import pandas as pd

from carryover.errors import UserError
from carryover.streams import generator

RESAMPLES = 2000


def table(runs, quantity):
    """A variable (run,) of a dataset as a DataFrame, seeds (rows) by tasks (columns); NaN where there is no run.

    Raises UserError where a seed has several runs of a task, naming what they differ in.
    """
    columns = {name: runs[name].values for name in runs.coords if runs[name].dims == ("run",)}
    frame = pd.DataFrame({**columns, quantity: runs[quantity].values})
    if frame.duplicated(["seed", "task"]).any():
        differ = [name for name in columns if name not in ("seed", "task") and frame[name].nunique() > 1]
        raise UserError(f"a seed has several runs of a task, which differ in {', '.join(differ) or 'nothing'}.")
    return frame.pivot(index="seed", columns="task", values=quantity)


def resampled(values, name):
    """Means of a table whose seeds and tasks are both drawn anew, up to 2000; none where fewer than two are known.

    Runs of one seed share initial or pretrained networks, and runs of one task share their classes, so that neither
    are independent. Drawing whole rows and whole columns counts both, and overstates what is left rather than
    understating it ("The pigeonhole bootstrap", Owen 2007). With one task the interval is over seeds alone, about that
    task; with one seed over tasks.

    Args:
        values: (seeds, tasks), NaN left out.
        name: text that names the resampling's random numbers.
    """
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    if known.sum() < 2:
        return np.array([])
    rng = generator("crossed", name, 0, "bootstrap")
    seeds, tasks = (rng.multinomial(n, np.full(n, 1 / n), size=RESAMPLES).astype(float) for n in values.shape)
    weight = ((seeds @ known) * tasks).sum(axis=1)
    total = ((seeds @ np.where(known, values, 0.0)) * tasks).sum(axis=1)
    return total[weight > 0] / weight[weight > 0]  # a draw can consist of missing values alone


def interval(values, name):
    """Mean of a table (seeds, tasks), NaN left out, and its 95 % percentile interval of the means `resampled`.

    Returns (mean, low, high); low and high are NaN where fewer than two values are known, mean where none is.
    """
    values = np.asarray(values, dtype=float)
    known, means = np.isfinite(values), resampled(values, name)
    low, high = np.quantile(means, [0.025, 0.975]) if len(means) else (np.nan, np.nan)
    return values[known].mean() if known.any() else np.nan, low, high


def usual(runs, name):
    """The value of a coordinate that most runs have: the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()
