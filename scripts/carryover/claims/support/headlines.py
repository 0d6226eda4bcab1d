"""The claims, each one sentence with its checks, as `carryover/claims/claims.yaml` has them."""

from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError

from carryover.claims.support.checks import OWN
from carryover.config import files, parameters
from carryover.errors import UserError

FILE = Path(__file__).resolve().parents[1] / "claims.yaml"
MEANINGS = {
    "headline": "claim that the check belongs to",
    "sentence": "what this claim says",
    "headline_paper": "paper that says it",
    "headline_section": "where in the paper",
    "headline_verdict": "holds, where all checks of the claim hold; fails, where one fails; or undecided",
}


class Headline(BaseModel):
    """One claim."""

    model_config = ConfigDict(extra="forbid")

    sentence: str = Field(max_length=130)
    section: str = OWN
    checks: list[str] = Field(min_length=1, description="<group>/<check>; * stands for any letters")


class Headlines(RootModel):
    """All claims: paper -> name -> claim."""

    root: dict[str, dict[str, Headline]]


def source():
    """The file of the project that is the working folder, or the library's."""
    own = Path("scripts/carryover/claims/claims.yaml")
    return own if own.exists() else FILE


def read():
    """{paper: {name: Headline}}; UserError for what is not allowed, and for a name that stands twice."""
    try:
        papers = Headlines.model_validate(files.read(FILE, FILE.name)).root
    except ValidationError as error:
        raise UserError(f"{FILE.name}: {parameters.sentence(error, Headline)}") from None
    names = [name for claims in papers.values() for name in claims]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UserError(f"{FILE.name}: two claims have the name {twice}.")
    return papers


def of(rows):
    """The claim of every check, a data frame by `claim`, its columns those of `MEANINGS` but the verdict.

    A check that no claim names, as those of a user's own groups, is a claim by itself. Raises UserError for a check
    that two claims name.
    """
    found = {}
    for paper, claims in read().items():
        for name, one in claims.items():
            for check in rows["claim"]:
                if any(fnmatchcase(check, pattern) for pattern in one.checks):
                    if check in found:
                        raise UserError(f"{FILE.name}: {check} belongs to {found[check][0]} and to {name}.")
                    found[check] = (name, one.sentence, paper, one.section)
    alone = {row.claim: (row.claim, row.statement, row.paper, row.section) for row in rows.itertuples()}
    columns = [name for name in MEANINGS if name != "headline_verdict"]
    return pd.DataFrame.from_dict({**alone, **found}, orient="index", columns=columns)
