"""Checks: what a claims plug-in returns, what `claims.yaml` says of it, and the dataset that is made of both."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from carryover.errors import UserError
from carryover.labels import make_dataset
from carryover.statistics.intervals import student

MEANINGS = {
    "statement": "what is claimed",
    "measured": "what the statistic is",
    "statistic": "mean, or median where `interval` is of order statistics, of what `interval` names",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
    "claimed_low": "lower end of the range in which the statistic is claimed to lie, fixed before it was known",
    "claimed_high": "upper end of that range",
    "bound": "the end of that range which is nearer to the statistic",
    "criterion": "that range in words",
    "p_value": "probability of so large a distance from the bound if there were none, in either direction",
    "verdict": "holds, fails, or undecided at this scale, for this claim alone",
    "interval": "how interval and p-value come about",
    "seeds": "seeds, or what else `interval` names, that the statistic is a mean over",
    "data": "datasets that the claim's group reads",
    "portable": "what of the data is the same on another processor: bits, all to rounding, or the distribution alone",
    "headline": "claim that the check belongs to",
    "sentence": "what this claim says",
    "headline_paper": "paper that says it",
    "headline_section": "where in the paper",
}  # fmt: skip


class Check(NamedTuple):
    """The values of one check, and how their estimate comes about.

    Parameters
    ----------
    values : array_like
        Usually one number per seed.
    estimate : callable
        An estimate of `carryover.statistics` as a function of values and bound.
    facts : dict
        What stands in the braces of the check's statement in claims.yaml.
    """

    values: Any
    estimate: Callable[..., dict] = student
    facts: Mapping[str, Any] = MappingProxyType({})


def checks(values, estimate=student, **facts):
    """{name: `Check`} of {name: values (seeds,)} with these facts; a `Check` among them keeps its own."""
    by_name = {name: value if isinstance(value, Check) else Check(value, estimate) for name, value in values.items()}
    return {name: check._replace(facts={**facts, **check.facts}) for name, check in by_name.items()}


def in_words(low, high):
    """'above 0.5', 'below 0.1' or 'within -0.1 and 0.1': a range."""
    if math.isinf(high):
        return f"above {low:g}"
    return f"below {high:g}" if math.isinf(low) else f"within {low:g} and {high:g}"


def join_numbers(numbers):
    """'0.1, 2'."""
    return ", ".join(f"{number:g}" for number in numbers)


def table(results, columns, files=(), portable=""):
    """The dataset over `claim` of `MEANINGS`; UserError if there is no check.

    `results` are {name: `Check`}, `columns` {name: {column: text or number of `claims.yaml`}}, `files` the paths of the
    datasets from which they were computed, and `portable` what `provenance.job_record.PORTABLE` promises of these
    elsewhere. A check holds if its whole interval lies in the claimed range, and fails if it lies outside.
    """
    if not results:
        raise UserError("a group of claims must have one check or more: with these options there is none.")
    rows = []
    for name, check in results.items():
        low, high = (columns[name][end] for end in ("claimed_low", "claimed_high"))
        estimates = {bound: check.estimate(check.values, bound) for bound in (low, high) if math.isfinite(bound)}
        # Of two bounds the nearer decides: the p-value is that of its test.
        bound = min(estimates, key=lambda end: abs(estimates[end]["statistic"] - end))
        estimate, verdict = estimates[bound], "undecided"
        if low < estimate["low"] and estimate["high"] < high:
            verdict = "holds"
        elif estimate["high"] < low or high < estimate["low"]:
            verdict = "fails"
        try:
            texts = {column: columns[name][column].format(**check.facts) for column in ("statement", "measured")}
        except KeyError as error:
            given = ", ".join(check.facts) or "none"
            raise UserError(f"claims.yaml: {name} needs the fact {error.args[0]}; there are: {given}.") from None
        rows.append({
            **columns[name],
            **texts,
            **estimate,
            "bound": bound,
            "criterion": in_words(low, high),
            "verdict": verdict,
            "data": ", ".join(f"{file.parent.name}/{file.stem}" for file in files),
            "portable": portable,
        })  # fmt: skip
    return make_dataset(
        {key: ("claim", np.array([row[key] for row in rows]), meaning) for key, meaning in MEANINGS.items()},
        {"claim": (list(results), "short name of the claim")},
    )
