"""What claims share: a statistic over seeds, its interval and p-value, and the verdict that the interval allows."""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import NamedTuple

import numpy as np
import xarray as xr
from scipy import special  # stats would take a second more of every job

from carryover.errors import UserError
from carryover.labels import attributes

LEVEL = 0.05
"""Share of true bounds at which a single claim is decided wrongly; intervals leave out as much."""
COMPUTED = "computed, not drawn"
BY_SIGNS = "order statistics over seeds"
OWN = "Carryover"
"""In the place of a paper's name, and of a section, of what no paper says."""
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


class Claim(NamedTuple):
    """A claim as a plug-in makes it; `section`, `measured` and `estimate` where they are not those of its module.

    What no paper says has the section `OWN`, or `own(section)`."""

    name: str
    statement: str
    values: Sequence[float]
    bound: float
    section: str | None = None
    measured: str | None = None
    estimate: Callable[..., dict] | None = None


def student(values, statement, bound, over="seeds"):
    """Mean of independent values (n,), NaN left out, with Student's 95 % interval and two-sided p-value of the bound.

    `over` says what there is a value of. Values that are all the same give an interval without length, and p 0, or 1 at
    the bound. Returns the columns of `MEANINGS` that hang on the values; interval and p-value are NaN where fewer than
    two values are left.
    """
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    columns = dict.fromkeys(("statistic", "low", "high", "p_value", "deviation"), np.nan)
    columns |= {"interval": f"Student's t over {over}", "seeds": len(values)}
    if len(values) < 2:
        return columns | {"statistic": values.mean() if len(values) else np.nan}
    if np.ptp(values) == 0:  # a sum of equal numbers is rounded, and would differ from the bound by that alone
        mean, deviation, half, p_value = values[0], 0.0, 0.0, float(values[0] == bound)
    else:
        mean, deviation, freedom = values.mean(), values.std(ddof=1), len(values) - 1
        error = deviation / np.sqrt(len(values))
        half = special.stdtrit(freedom, 1 - LEVEL / 2) * error
        p_value = 2 * special.stdtr(freedom, -abs(mean - bound) / error)
    columns |= {"statistic": mean, "low": mean - half, "high": mean + half, "p_value": p_value}
    return columns | {"deviation": deviation if over == "seeds" else np.nan}


def median(values, statement, bound):
    """Median of independent values (n,), NaN left out, where a mean may not exist; its interval lies between two of
    them, and holds it with 95 % or more whatever they are drawn from, as the sign test says, whose p-value it has.

    Interval and p-value are NaN of fewer than six values, for which there is no such interval.
    """
    values = np.asarray(values, dtype=float)
    values, count = np.sort(values[np.isfinite(values)]), np.isfinite(values).sum()
    columns = dict.fromkeys(("low", "high", "p_value", "deviation"), np.nan)
    columns |= {"statistic": np.median(values) if count else np.nan, "interval": BY_SIGNS}
    places = np.flatnonzero(special.bdtr(np.arange(count // 2), count, 0.5) <= LEVEL / 2)
    if len(places):
        fewer = min((values < bound).sum(), (values > bound).sum())
        columns["p_value"] = min(1.0, 2 * special.bdtr(fewer, count, 0.5))
        columns |= {"low": values[places[-1]], "high": values[-1 - places[-1]]}
    return columns | {"seeds": count}


def share(values, statement, bound):
    """Share of networks, of values 0 and 1 (n,), a Series by seed: that of the seeds' shares, as `student` gives it.

    Where all networks are alike seeds have no spread, which does not mean that all networks there could be are alike:
    interval and p-value are then those of `counted`.
    """
    values = values.dropna()
    if values.nunique() == 1:
        return counted(values, bound, "networks")
    columns = student(values.groupby(level=0).mean(), statement, bound)
    return columns | {end: np.clip(columns[end], 0.0, 1.0) for end in ("low", "high")}


def counted(values, bound, over):
    """Share of values that are 1, the others being 0 (n,), with Clopper and Pearson's interval and two-sided p-value.

    Args:
        values: one or more, of things that are taken as independent.
        bound: of the claim, between 0 and 1.
        over: what there is a value of, in words.

    Returns the columns of `MEANINGS` that hang on the values.
    """
    count, ones = len(values), int(np.sum(values))
    low = special.betaincinv(ones, count - ones + 1, LEVEL / 2) if ones else 0.0
    high = special.betaincinv(ones + 1, count - ones, 1 - LEVEL / 2) if ones < count else 1.0
    tails = special.bdtr(ones, count, bound), special.bdtrc(ones - 1, count, bound) if ones else 1.0
    columns = {"statistic": ones / count, "low": low, "high": high, "p_value": min(1.0, 2 * min(tails))}
    return columns | {"interval": f"Clopper and Pearson's over {over}, as if independent", "deviation": np.nan,
                      "seeds": count}  # fmt: skip


def exact(value, statement, bound):
    """A number that was computed, of which nothing was drawn: it is its own interval, and there is no p-value."""
    ends = dict.fromkeys(("statistic", "low", "high"), float(value))
    return {**ends, "p_value": np.nan, "interval": COMPUTED, "deviation": np.nan, "seeds": 0}


def verdict(low, high, bound):
    """'holds' where the whole interval lies above the bound, 'fails' where it lies below, else 'undecided'."""
    if low > bound:
        return "holds"
    return "fails" if high < bound else "undecided"


def beside(row):
    """(statistic, low, high) of a claim in [-1, 1], with 0 at its bound and the one farthest from it at -1 or 1; None
    where they are not known. A claim has no scale that others share."""
    away = np.array([row.statistic, row.low, row.high]) - row.bound
    return away / (np.abs(away).max() or 1) if np.isfinite(away).all() else None


def within(values, near, expected=0.0):
    """`near` less the distance of the mean of values from what is expected, as values whose mean it is."""
    above = values.mean() >= expected
    return near - (values - expected if above else expected - values)


def own(section):
    """The section of a claim that is ours, about what stands in this one."""
    return f"{OWN}{_ABOUT}{section}"


def origin(section):
    """(whether a claim is ours, what it is about) of its section."""
    first, _, about = section.partition(_ABOUT)
    return (True, about) if first == OWN else (False, section)


def claims(*told, **named):
    """Decorator of a plug-in's `check`, which gives claims: it makes the `table` that is told the same of them."""

    def decorate(check):
        name = check.__module__.rpartition(".")[2]
        return wraps(check)(lambda data, p: table(_claims_of(name, check(data, p)), *told, **named))

    return decorate


def _claims_of(plugin, given):
    """Claims as a plug-in gives them, one by one; UserError, naming it, for what is none."""
    if not isinstance(given, Iterable):
        raise UserError(f"{plugin} must return claims, not {type(given).__name__}.")
    most, fewest = len(Claim._fields), len(Claim._fields) - len(Claim._field_defaults)
    for one in given:
        if not isinstance(one, tuple | list) or not fewest <= len(one) <= most:
            found = f"{len(one)} values" if isinstance(one, tuple | list) else type(one).__name__
            said = f"a claim of {plugin} must have {fewest} to {most} values"
            raise UserError(f"{said}, {', '.join(Claim._fields)}: one has {found}.")
        yield one


def table(claims, section="", measured="", estimate=student):
    """Dataset over `claim` of `MEANINGS`, but the paper, from claims, or tuples of what `Claim` has.

    Args:
        claims: one or more.
        section: of the paper, of claims that do not say otherwise.
        measured: what statistics are, likewise.
        estimate: gives the columns of a claim that hang on what was drawn at random, of its values, statement and
            bound, as `student` does over seeds; likewise.

    Raises:
        UserError: there is no claim.
    """
    rows = []
    for claim in (Claim(*one) for one in claims):
        columns = (claim.estimate or estimate)(claim.values, claim.statement, claim.bound)
        rows.append({
            "claim": claim.name,
            "statement": claim.statement,
            "section": claim.section or section,
            "measured": claim.measured or measured,
            "bound": float(claim.bound),
            "criterion": f"above {claim.bound:g}",
            "verdict": verdict(columns["low"], columns["high"], claim.bound),
            **columns,
        })  # fmt: skip
    if not rows:
        raise UserError("a group of claims must have one claim or more: with these options there is none.")
    names = [row["claim"] for row in rows]
    result = xr.Dataset(coords={"claim": ("claim", names, attributes("short name of the claim"))})
    for key, meaning in MEANINGS.items():
        if key in rows[0]:
            result[key] = ("claim", np.array([row[key] for row in rows]), attributes(meaning))
    return result
