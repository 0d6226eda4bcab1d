"""Checks: what a claims plug-in returns, what `claims.yaml` says of it, and the dataset that is made of both."""

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, model_validator

from carryover.config import files, parameters
from carryover.errors import UserError
from carryover.labels import described
from carryover.statistics.intervals import student

OWN = "Carryover"  # paper of what no paper says
CLAIMS_FILE = Path(__file__).resolve().parents[1] / "claims.yaml"
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


class Checked(BaseModel, extra="forbid"):
    """What a check says, what its statistic is, and the bound that it is claimed to lie above.

    A text is the statement alone; the rest is then that of its claim.
    """

    statement: str
    measured: str = ""
    above: float | None = None

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value):
        return {"statement": value} if isinstance(value, str) else value


class Claim(BaseModel, extra="forbid"):
    """One claim, with what its checks have in common."""

    sentence: str = Field(max_length=130)
    section: str = OWN
    measured: str = Field("", description="what the statistics are")
    above: float = Field(0.0, description="the bound that they are claimed to lie above")
    checks: dict[str, Checked] = Field(
        min_length=1, description="<group>/<check>: what it says; * stands for any letters"
    )


def read_claims():
    """{paper: {name: `Claim`}} of claims.yaml; UserError for what is not allowed."""
    kind = dict[str, dict[str, Claim]]
    try:
        return TypeAdapter(kind).validate_python(files.read(CLAIMS_FILE))
    except ValidationError as error:
        raise UserError(f"{CLAIMS_FILE.name}: {parameters.sentence(error, kind)}") from None


def definitions(group, names):
    """{name: {column: value}}: columns of a group's dataset on its checks and on the claim of each.

    Raises UserError for a check that belongs to no claim, or to several.
    """
    entries = []  # pattern of checks of the group, and their columns
    for paper, claims in read_claims().items():
        for headline, claim in claims.items():
            for pattern, said in claim.checks.items():
                if fnmatch.fnmatchcase(group, pattern.partition("/")[0]):
                    bound = claim.above if said.above is None else said.above
                    columns = {"statement": said.statement, "measured": said.measured or claim.measured, "bound": bound,
                               "headline": headline, "sentence": claim.sentence, "headline_paper": paper,
                               "headline_section": claim.section}  # fmt: skip
                    entries.append((pattern, columns))
    by_name = {}
    for name in names:
        claims = [columns for pattern, columns in entries if fnmatch.fnmatchcase(f"{group}/{name}", pattern)]
        if len(claims) != 1:
            words = " and ".join(columns["headline"] for columns in claims) or "none: add it to a claim"
            raise UserError(f"{CLAIMS_FILE.name}: the check {group}/{name} must belong to one claim, not to {words}.")
        by_name[name] = claims[0]
    return by_name


def table(results, columns, files=(), portable=""):
    """The dataset over `claim` of `MEANINGS`; UserError if there is no check.

    `results` are checks by name, `columns` what `definitions` says of them, `files` the datasets from which they were
    computed, and `portable` what `provenance.job_record.PORTABLE` promises of these elsewhere. A check holds if its
    whole interval lies above the bound, and fails if it lies below.
    """
    if not results:
        raise UserError("a group of claims must have one check or more: with these options there is none.")
    rows = []
    for name, check in results.items():
        bound, verdict = columns[name]["bound"], "undecided"
        estimate = check.estimate(check.values, bound)
        if estimate["low"] > bound:
            verdict = "holds"
        elif estimate["high"] < bound:
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
            "criterion": f"above {bound:g}",
            "verdict": verdict,
            "data": ", ".join(f"{file.parent.name}/{file.stem}" for file in files),
            "portable": portable,
        })  # fmt: skip
    return described(
        {key: ("claim", np.array([row[key] for row in rows]), meaning) for key, meaning in MEANINGS.items()},
        {"claim": (list(results), "short name of the claim")},
    )
