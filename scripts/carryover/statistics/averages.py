"""Means over draws with their standard errors, how often they agree with a formula, and where a mean is smallest."""

import numpy as np

RESAMPLES = 1000


def averages(frame, by, quantity="transferability"):
    """Mean, standard deviation and standard error over draws of a quantity, by the columns `by`: a data frame."""
    groups = frame.groupby(list(by))[quantity]
    table = groups.agg(["mean", "std", "count"]).reset_index()
    return table.assign(error=table["std"] / np.sqrt(table["count"]))


def within(table, theory, errors=2):
    """Share of the rows of `averages` whose mean lies within so many standard errors of a theory's values.

    A difference of 1e-9 is rounding. NaN if there is one draw.
    """
    known = np.isfinite(theory) & np.isfinite(table["error"])
    return float((np.abs(table["mean"] - theory) <= errors * table["error"] + 1e-9)[known].mean())


def best(table, rng):
    """(column of the smallest mean, lower and upper end of its 95 % bootstrap interval) of a table of draws (rows)."""
    draws = rng.integers(len(table), size=(RESAMPLES, len(table)))
    columns = table.columns.to_numpy()
    low, high = np.quantile(columns[table.to_numpy()[draws].mean(1).argmin(1)], [0.025, 0.975])
    return columns[table.mean().argmin()], low, high
