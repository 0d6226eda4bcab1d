"""The claims, each one sentence with its checks, as `carryover/claims/claims.yaml` has them."""

import fnmatch
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from carryover.config import files, parameters
from carryover.errors import UserError

OWN = "Carryover"
"""Paper of what no paper says."""
FILE = Path(__file__).resolve().parents[1] / "claims.yaml"
MEANINGS = {
    "headline": "claim that the check belongs to",
    "sentence": "what this claim says",
    "headline_paper": "paper that says it",
    "headline_section": "where in the paper",
    "headline_verdict": "holds, where all checks of the claim hold; fails, where one fails; or undecided",
}


class Checked(BaseModel):
    """What a check says, what its statistic is, and the bound that it is claimed to lie above.

    A text is the statement alone; the rest is then that of its claim.
    """

    model_config = ConfigDict(extra="forbid")

    statement: str
    measured: str = ""
    above: float | None = None

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value):
        return {"statement": value} if isinstance(value, str) else value


class Headline(BaseModel):
    """One claim, with what its checks have in common."""

    model_config = ConfigDict(extra="forbid")

    sentence: str = Field(max_length=130)
    section: str = OWN
    measured: str = Field("", description="what the statistics are")
    above: float = Field(0.0, description="the bound that they are claimed to lie above")
    checks: dict[str, Checked] = Field(
        min_length=1, description="<group>/<check>: what it says; * stands for any letters"
    )

    @model_validator(mode="after")
    def with_what_checks_share(self):
        for check in self.checks.values():
            check.measured = check.measured or self.measured
            check.above = self.above if check.above is None else check.above
        return self


def read():
    """{paper: {name: Headline}}; UserError for what is not allowed."""
    try:
        return TypeAdapter(dict[str, dict[str, Headline]]).validate_python(files.read(FILE))
    except ValidationError as error:
        raise UserError(f"{FILE.name}: {parameters.sentence(error, Headline)}") from None


def of_checks(checks):
    """{check: (paper, name of its claim, claim, what the check says)} of names <group>/<check>.

    Raises UserError for a check that two entries name; one that none names is left out.
    """
    found = {}
    for paper, claims in read().items():
        for name, claim in claims.items():
            for pattern, definition in claim.checks.items():
                for check in fnmatch.filter(checks, pattern):
                    if check in found:
                        raise UserError(f"{FILE.name}: {check} belongs to {found[check][1]} and to {name}.")
                    found[check] = paper, name, claim, definition
    return found


def definitions(group, names):
    """{name: Checked} of the checks of a group; UserError for one that the file lacks."""
    found = of_checks([f"{group}/{name}" for name in names])
    if missing := [name for name in names if f"{group}/{name}" not in found]:
        raise UserError(f"{FILE.name} has no check {group}/{missing[0]}: add it to a claim.")
    return {name: found[f"{group}/{name}"][-1] for name in names}


def of(rows):
    """The claim of every check, a data frame by `claim`, its columns those of `MEANINGS` but the verdict.

    A check that no claim names is a claim by itself.
    """
    alone = {row.claim: (row.claim, row.statement, OWN, "") for row in rows.itertuples()}
    named = {check: (name, claim.sentence, paper, claim.section)
             for check, (paper, name, claim, _) in of_checks(rows["claim"]).items()}  # fmt: skip
    columns = [name for name in MEANINGS if name != "headline_verdict"]
    return pd.DataFrame.from_dict({**alone, **named}, orient="index", columns=columns)
