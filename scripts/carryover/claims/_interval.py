"""What claims share: a statistic over seeds, its bootstrap interval, and the verdict that the interval allows."""

import numpy as np
import xarray as xr

from carryover.streams import generator

RESAMPLES = 2000
MEANINGS = {
    "statement": "what is claimed",
    "statistic": "mean over seeds",
    "low": "lower end of its 95 % interval (bootstrap over seeds)",
    "high": "upper end of its 95 % interval (bootstrap over seeds)",
    "bound": "value that the statistic is claimed to lie above",
    "verdict": "holds, fails, or undecided at this scale",
    "seeds": "seeds that the statistic is a mean over",
}


def interval(values, statement):
    """95 % percentile interval of the mean over seeds.

    Args: values (seeds,), NaN left out; statement, which names the resampling's random numbers. Returns (mean, low,
    high), all NaN where fewer than two seeds are left.
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return np.nan, np.nan, np.nan
    draws = generator("claims", statement, 0, "bootstrap").integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[draws].mean(1), [0.025, 0.975])
    return values.mean(), low, high


def verdict(low, high, bound):
    """'holds' where the whole interval lies above the bound, 'fails' where it lies below, else 'undecided'."""
    if low > bound:
        return "holds"
    return "fails" if high < bound else "undecided"


def table(claims):
    """Dataset over `claim` from tuples (name, statement, values over seeds, bound)."""
    rows = []
    for name, statement, values, bound in claims:
        mean, low, high = interval(values, statement)
        seeds = np.isfinite(np.asarray(values, dtype=float)).sum()
        rows.append((name, statement, mean, low, high, bound, verdict(low, high, bound), seeds))
    names, *columns = zip(*rows, strict=True)
    variables = {key: ("claim", np.array(column)) for key, column in zip(MEANINGS, columns, strict=True)}
    result = xr.Dataset(variables, coords={"claim": list(names)})
    for key, meaning in {**MEANINGS, "claim": "short name of the claim"}.items():
        result[key].attrs = {"long_name": meaning, "units": "1"}
    return result
