"""Tables of claims that are kept with the project, as text: what another scale found."""

import csv

import pandas as pd

from carryover.errors import UserError
from carryover.provenance import store

WORDS = ("paper", "section", "statement", "verdict", "measured", "interval")
NUMBERS = ("statistic", "low", "high", "bound", "p_value", "adjusted_p_value", "seeds")
COLUMNS = ("claim", *WORDS, *NUMBERS)


def write(table, path):
    """Keep a table of all claims, as `claims_table.gathered` makes it, in a file."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        values = (table[name].values.tolist() for name in COLUMNS)
        rows.writerows(zip(*values, strict=True))


def read(path):
    """A kept table as a data frame; UserError where the file is none."""
    with store.regular(path):
        pass
    try:
        table = pd.read_csv(
            path,
            dtype=dict.fromkeys(WORDS, str),
            keep_default_na=False,
            na_values={name: ["nan", ""] for name in NUMBERS},
        )
    except (ValueError, pd.errors.ParserError) as error:
        raise UserError(f"{path} is no table of claims that was kept ({error}).") from None
    if missing := sorted({"claim", "verdict", "statistic", "low", "high"} - set(table)):
        raise UserError(f"{path} is no table of claims that was kept: it has no column {missing[0]}.")
    return table
