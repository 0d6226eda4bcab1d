"""What `claims.yaml` says: claims by paper, with their checks, the ranges of their statistics, and their texts."""

import fnmatch
import math
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

from carryover.config import files, parameters
from carryover.errors import UserError

OWN = "Carryover"  # paper of what no paper says
CLAIMS_FILE = Path(__file__).resolve().parents[1] / "claims" / "claims.yaml"


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
        if self.within is not None and self.within[0] >= self.within[1]:
            raise ValueError("within needs the lower bound first")
        return self

    @property
    def range(self) -> tuple[float, float] | None:
        """Both ends of the range; None without a bound."""
        if self.within is not None:
            return self.within
        if self.above is not None:
            return self.above, math.inf
        return None if self.below is None else (-math.inf, self.below)


class Checked(Claimed):
    """What a check says, and what of its statistic differs from the others of its claim; a text is the statement."""

    statement: str

    @model_validator(mode="before")
    @classmethod
    def from_text(cls, value):
        return {"statement": value} if isinstance(value, str) else value


class Claim(Claimed):
    """One claim, with what its checks have in common."""

    sentence: str = Field(max_length=110)
    section: str = ""
    checks: dict[str, Checked] = Field(
        min_length=1, description="<group>/<check>: what it says; * stands for any letters"
    )

    @model_validator(mode="after")
    def check_ranges(self) -> Self:
        """Every check has a range, and that of the claim is read by a check."""
        lacking = [name for name, check in self.checks.items() if check.range is None]
        if lacking and self.range is None:
            raise ValueError(f"{lacking[0]} has no direction: say above, below or within")
        if not lacking and self.range is not None:
            raise ValueError("no check reads the bound of the claim, for each has its own")
        return self


def read_claims():
    """{paper: {name: `Claim`}} of claims.yaml; UserError for what is not allowed."""
    return _claims_of(CLAIMS_FILE, CLAIMS_FILE.stat().st_mtime_ns)


@cache  # every group looks its checks up
def _claims_of(file, changed):
    """What `read_claims` returns, of a file last `changed` at that time: an edited file is read anew."""
    kind = dict[str, dict[str, Claim]]
    try:
        by_paper = TypeAdapter(kind).validate_python(files.read(file))
    except ValidationError as error:
        raise UserError(f"{CLAIMS_FILE.name}: {parameters.sentence(error, kind)}") from None
    if nowhere := [f"{paper}.{name}" for paper, said in by_paper.items() if paper != OWN
                   for name, claim in said.items() if not claim.section]:  # fmt: skip
        raise UserError(f"{CLAIMS_FILE.name}: {nowhere[0]} has no section: say where it stands, or that it is {OWN}'s.")
    return by_paper


def of_group(group):
    """{pattern: [{column: value}]}: what each claim says of the checks of a group, by patterns of the checks' names,
    `<group>/<check>` with * for any letters.

    Columns are those of the group's dataset, and `range`, both ends, None where it has no end.
    """
    found: dict = {}
    for paper, claims in read_claims().items():
        for headline, claim in claims.items():
            for pattern, said in claim.checks.items():
                if fnmatch.fnmatchcase(group, pattern.partition("/")[0]):
                    columns = {"statement": said.statement, "measured": said.measured or claim.measured,
                               "headline": headline, "sentence": claim.sentence, "headline_paper": paper,
                               "headline_section": claim.section or paper}  # fmt: skip
                    ends = [end if math.isfinite(end) else None for end in said.range or claim.range]
                    found.setdefault(pattern, []).append(columns | {"range": ends})
    return found


def definitions(group, names):
    """{check: {column: value}}: what `claims.yaml` says of the checks `names` of a group and of the claim that each
    belongs to, as columns of the group's dataset.

    Raises UserError for a check that belongs to no claim, or to several.
    """
    by_name, said = {}, of_group(group)
    for name in names:
        claims = [one for pattern, all_said in said.items() if fnmatch.fnmatchcase(f"{group}/{name}", pattern)
                  for one in all_said]  # fmt: skip
        if len(claims) != 1:
            words = " and ".join(columns["headline"] for columns in claims) or "none: add it to a claim"
            raise UserError(f"{CLAIMS_FILE.name}: the check {group}/{name} must belong to one claim, not to {words}.")
        columns = dict(claims[0])
        low, high = columns.pop("range")
        by_name[name] = columns | {
            "claimed_low": -math.inf if low is None else low, "claimed_high": math.inf if high is None else high
        }  # fmt: skip
    return by_name
