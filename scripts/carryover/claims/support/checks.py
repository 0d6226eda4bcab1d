"""Checks of claims: what a claims plug-in returns, and the dataset that is made of it."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import NamedTuple

import numpy as np
import xarray as xr

from carryover.errors import UserError
from carryover.labels import attributes
from carryover.statistics.intervals import student

OWN = "Carryover"
"""Paper and section of what no paper says."""
_ABOUT = ": "
MEANINGS = {
    "statement": "what is claimed",
    "paper": "paper that claims it",
    "section": "where in the paper",
    "measured": "what the statistic is",
    "statistic": "mean, or median where `interval` is of order statistics, of what `interval` names",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
    "bound": "value that the statistic is claimed to lie above, fixed before it was known",
    "criterion": "the same in words",
    "p_value": "probability of so large a distance from the bound if there were none, in either direction",
    "verdict": "holds, fails, or undecided at this scale, for this claim alone",
    "interval": "how interval and p-value come about",
    "deviation": "standard deviation over seeds, of means over the tasks where there are several; NaN where seeds are "
                 "not what the interval is over",
    "seeds": "seeds, or what else `interval` names, that the statistic is a mean over",
}  # fmt: skip


class Check(NamedTuple):
    """One check: that the estimate of some values lies above a bound.

    `section`, `measured` and `estimate` replace those of the group. What no paper says has the section `OWN`, or
    `own(section)`.
    """

    name: str
    statement: str
    values: Sequence[float]
    bound: float
    section: str | None = None
    measured: str | None = None
    estimate: Callable[..., dict] | None = None


def group(section="", measured="", estimate=student):
    """Decorator of a plug-in's `check`, which returns checks: makes the dataset of the group.

    Parameters
    ----------
    section : str
        Section of the paper.
    measured : str
        What the statistics are.
    estimate : callable
        An estimate of `statistics` as a function of values and bound.
    """

    def decorate(check):
        return wraps(check)(lambda data, p: table(check(data, p), section, measured, estimate))

    return decorate


def table(checks, section="", measured="", estimate=student):
    """Dataset over `claim` of `MEANINGS`, without the paper; parameters as in `group`.

    Raises
    ------
    UserError
        If there is no check.
    """
    rows = []
    for check in (Check(*one) for one in checks):
        found = (check.estimate or estimate)(check.values, check.bound)
        rows.append({
            "claim": check.name,
            "statement": check.statement,
            "section": check.section or section,
            "measured": check.measured or measured,
            "bound": float(check.bound),
            "criterion": f"above {check.bound:g}",
            "verdict": verdict(found["low"], found["high"], check.bound),
            **found,
        })  # fmt: skip
    if not rows:
        raise UserError("a group of claims must have one check or more: with these options there is none.")
    names = [row["claim"] for row in rows]
    result = xr.Dataset(coords={"claim": ("claim", names, attributes("short name of the claim"))})
    for key, meaning in MEANINGS.items():
        if key in rows[0]:
            result[key] = ("claim", np.array([row[key] for row in rows]), attributes(meaning))
    return result


def verdict(low, high, bound):
    """'holds' if the whole interval lies above the bound, 'fails' if it lies below, else 'undecided'."""
    if low > bound:
        return "holds"
    return "fails" if high < bound else "undecided"


def relative_to_bound(row):
    """(statistic, low, high) of a check in [−1, 1] with its bound at 0, for a plot of checks without a common scale.

    None where one of them is not known.
    """
    distances = np.array([row.statistic, row.low, row.high]) - row.bound
    return distances / (np.abs(distances).max() or 1) if np.isfinite(distances).all() else None


def own(section):
    """Section of what Carryover says about a section of the paper."""
    return f"{OWN}{_ABOUT}{section}"


def origin(section):
    """(whether Carryover says it, what it is about) of a section."""
    first, _, about = section.partition(_ABOUT)
    return (True, about) if first == OWN else (False, section)
