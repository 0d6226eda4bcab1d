"""Checks: what a claims plug-in returns, what `claims.yaml` says of it, and the dataset that is made of both."""

import fnmatch
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

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

    values: Sequence[float]
    estimate: Callable[..., dict] = student
    facts: Mapping[str, Any] = MappingProxyType({})


def checks(values, estimate=student, **facts):
    """{name: `Check`} of {name: values} with these facts; a `Check` among the values keeps its estimate and facts."""
    by_name = {name: value if isinstance(value, Check) else Check(value, estimate) for name, value in values.items()}
    return {name: check._replace(facts={**facts, **check.facts}) for name, check in by_name.items()}


def in_words(low, high):
    """'above 0.5', 'below 0.1' or 'within -0.1 and 0.1': a range."""
    if math.isinf(high):
        return f"above {low:g}"
    return f"below {high:g}" if math.isinf(low) else f"within {low:g} and {high:g}"


def listed(numbers):
    """'0.1, 2'."""
    return ", ".join(f"{number:g}" for number in numbers)


def number(value):
    """A bound as claims.yaml has it: a number, or the logarithm of a factor, as log10(1.25)."""
    if isinstance(value, str) and value.startswith("log10(") and value.endswith(")"):
        return math.log10(float(value[6:-1]))
    return value


Bound = Annotated[float, BeforeValidator(number)]


class Claimed(BaseModel, extra="forbid"):
    """What a statistic is, and where it is claimed to lie: above or below a bound, or within two."""

    measured: str = ""
    above: Bound | None = None
    below: Bound | None = None
    within: tuple[Bound, Bound] | None = None

    @model_validator(mode="after")
    def one_direction(self) -> Self:
        if sum(value is not None for value in (self.above, self.below, self.within)) > 1:
            raise ValueError("one of above, below and within is enough")
        return self

    @property
    def range(self) -> tuple[float, float] | None:
        """Both ends of the range; None where nothing is said."""
        if self.within is not None:
            return self.within
        if self.above is not None:
            return self.above, np.inf
        return None if self.below is None else (-np.inf, self.below)


class Checked(Claimed):
    """What a check says, and what of its statistic differs from the others of its claim; a text is the statement."""

    statement: str

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value):
        return {"statement": value} if isinstance(value, str) else value


class Claim(Claimed):
    """One claim, with what its checks have in common."""

    sentence: str = Field(max_length=130)
    section: str = OWN
    checks: dict[str, Checked] = Field(
        min_length=1, description="<group>/<check>: what it says; * stands for any letters"
    )

    @model_validator(mode="after")
    def every_range_is_read(self) -> Self:
        """Every check has a range, and that of the claim is read by a check."""
        lacking = [name for name, check in self.checks.items() if check.range is None]
        if lacking and self.range is None:
            raise ValueError(f"{lacking[0]} has no direction: say above, below or within")
        if not lacking and self.range is not None:
            raise ValueError("no check reads the bound of the claim, for each has its own")
        return self


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
                    low, high = said.range or claim.range
                    columns = {"statement": said.statement, "measured": said.measured or claim.measured,
                               "claimed_low": low, "claimed_high": high, "headline": headline,
                               "sentence": claim.sentence, "headline_paper": paper,
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
    whole interval lies in the claimed range, and fails if it lies outside.
    """
    if not results:
        raise UserError("a group of claims must have one check or more: with these options there is none.")
    rows = []
    for name, check in results.items():
        low, high = (columns[name][end] for end in ("claimed_low", "claimed_high"))
        estimates = {bound: check.estimate(check.values, bound) for bound in (low, high) if math.isfinite(bound)}
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
    return described(
        {key: ("claim", np.array([row[key] for row in rows]), meaning) for key, meaning in MEANINGS.items()},
        {"claim": (list(results), "short name of the claim")},
    )
