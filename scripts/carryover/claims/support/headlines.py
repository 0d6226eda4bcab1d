"""The claims, each one sentence with its checks, as `carryover/claims/claims.yaml` has them."""

import fnmatch
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from carryover.config import files, parameters
from carryover.errors import UserError

OWN = "Carryover"
"""Paper of what no paper says."""
FILE = Path(__file__).resolve().parents[1] / "claims.yaml"


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


Claims = dict[str, dict[str, Headline]]
"""Claims by paper and name."""


def read():
    """{paper: {name: Headline}}; UserError for what is not allowed."""
    try:
        return TypeAdapter(Claims).validate_python(files.read(FILE))
    except ValidationError as error:
        raise UserError(f"{FILE.name}: {parameters.sentence(error, Claims)}") from None


def definitions(group, names):
    """{name: {column: value}}: columns of a group's dataset on its checks and on the claim of each.

    Raises UserError for a check that belongs to no claim, or to several.
    """
    by_name = {}
    entries = [(pattern, columns) for pattern, columns in _entries()  # most are of other groups
               if fnmatch.fnmatchcase(group, pattern.partition("/")[0])]  # fmt: skip
    for name in names:
        claims = [columns for pattern, columns in entries if fnmatch.fnmatchcase(f"{group}/{name}", pattern)]
        if len(claims) != 1:
            words = " and ".join(columns["headline"] for columns in claims) or "none: add it to a claim"
            raise UserError(f"{FILE.name}: the check {group}/{name} must belong to one claim, not to {words}.")
        by_name[name] = claims[0]
    return by_name


def _entries():
    """(pattern of the names of checks, {column: value}) of each entry under `checks`."""
    for paper, claims in read().items():
        for headline, claim in claims.items():
            about = {"headline": headline, "sentence": claim.sentence, "headline_paper": paper,
                     "headline_section": claim.section}  # fmt: skip
            for pattern, said in claim.checks.items():
                measured, bound = said.measured or claim.measured, claim.above if said.above is None else said.above
                yield pattern, {"statement": said.statement, "measured": measured, "bound": bound, **about}
