"""Archived tables of claims, as text: what another scale found."""

import csv

from carryover.analysis import text_tables
from carryover.analysis.claims_table import ORDER
from carryover.errors import UserError

WORDS = ("headline", "sentence", "headline_paper", "headline_verdict", "paper", "section", "statement", "verdict",
         "measured", "interval")  # fmt: skip
NUMBERS = ("statistic", "low", "high", "bound", "p_value", "adjusted_p_value", "seeds")
COLUMNS = ("claim", *WORDS, *NUMBERS)
_NEEDED = ("claim", "high", "low", "statistic", "verdict")  # older tables lack others
_CALLED = "archived table of claims"


def write(table, path):
    """Write a table of all claims, as `claims_table.gathered` makes it, as text."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        values = (table[name].values.tolist() for name in COLUMNS)
        rows.writerows(zip(*values, strict=True))


def read(path):
    """An archived table as a data frame, a check in each row; UserError, naming claim and column, for another file."""
    table, _ = text_tables.cells(path, _CALLED, dtype=str, keep_default_na=False)
    if missing := [name for name in _NEEDED if name not in table]:
        raise UserError(f"{path} is no {_CALLED}: it has no column {missing[0]}.")
    if twice := table["claim"][table["claim"].duplicated()].tolist():
        raise UserError(f"{path}: {twice[0]} stands twice in the column claim.")
    for row in table.itertuples():
        if row.verdict not in ORDER:
            said = f"{path}: {row.claim}: verdict is {row.verdict!r}"
            raise UserError(f"{said}, and must be one of {', '.join(ORDER)}.")
    for name in filter(table.__contains__, NUMBERS):
        table[name] = [_number(text, path, row, name) for text, row in zip(table[name], table["claim"], strict=True)]
    return table


def _number(text, path, claim, column):
    """The number of a cell, NaN of an empty one."""
    try:
        return float(text or "nan")
    except ValueError:
        raise UserError(f"{path}: {claim}: {column} is {text!r}, and must be a number, or empty.") from None
