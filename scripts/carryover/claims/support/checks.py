"""Checks of claims: what a claims plug-in returns, and the dataset that is made of it."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from carryover.errors import UserError
from carryover.labels import described
from carryover.statistics.intervals import student

MEANINGS = {
    "statement": "what is claimed",
    "measured": "what the statistic is",
    "statistic": "mean, or median where `interval` is of order statistics, of what `interval` names",
    "low": "lower end of its 95 % interval",
    "high": "upper end of its 95 % interval",
    "bound": "value that the statistic is claimed to lie above, fixed before it was known",
    "criterion": "the same in words",
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

    values: Sequence[float]
    estimate: Callable[..., dict] = student
    facts: Mapping[str, Any] = MappingProxyType({})


def checks(values, estimate=student, **facts):
    """{name: `Check`} of {name: values} with these facts; a `Check` among the values keeps its estimate and facts."""
    by_name = {name: value if isinstance(value, Check) else Check(value, estimate) for name, value in values.items()}
    return {name: check._replace(facts={**facts, **check.facts}) for name, check in by_name.items()}


def listed(numbers):
    """'0.1, 2'."""
    return ", ".join(f"{number:g}" for number in numbers)


def table(results, definitions, files=(), portable=""):
    """The dataset over `claim` of `MEANINGS`; UserError if there is no check.

    `results` are checks by name, `definitions` what `headlines.definitions` says of them, `files` the datasets from
    which they were computed, and `portable` what `provenance.job_record.PORTABLE` promises of these elsewhere.
    """
    if not results:
        raise UserError("a group of claims must have one check or more: with these options there is none.")
    rows = []
    for name, check in results.items():
        definition = definitions[name]
        bound, estimate = definition["bound"], check.estimate(check.values, definition["bound"])
        rows.append({
            **definition,
            "statement": _filled(definition["statement"], name, check.facts),
            "measured": _filled(definition["measured"], name, check.facts),
            "criterion": f"above {bound:g}",
            "verdict": verdict(estimate["low"], estimate["high"], bound),
            "data": ", ".join(f"{file.parent.name}/{file.stem}" for file in files),
            "portable": portable,
            **estimate,
        })  # fmt: skip
    return described(
        {key: ("claim", np.array([row[key] for row in rows]), meaning) for key, meaning in MEANINGS.items()},
        {"claim": (list(results), "short name of the claim")},
    )


def _filled(text, name, facts):
    """A text of claims.yaml with its facts; UserError where it names one that the check does not give."""
    try:
        return text.format(**facts)
    except KeyError as error:
        given = ", ".join(facts) or "none"
        raise UserError(f"claims.yaml: {name}: {text!r} needs the fact {error.args[0]}; there are: {given}.") from None


def verdict(low, high, bound):
    """'holds' if the whole interval lies above the bound, 'fails' if it lies below, else 'undecided'."""
    if low > bound:
        return "holds"
    return "fails" if high < bound else "undecided"
