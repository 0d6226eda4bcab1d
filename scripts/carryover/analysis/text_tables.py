"""Tables as text, with commas between cells and names in the first line; a damaged one is named in one sentence."""

import csv
import io

import pandas as pd

from carryover.errors import DataError
from carryover.provenance import store


def read(path):
    """A table that ships with the project as a data frame; DataError for a damaged file.

    A column most of whose cells are numbers holds nothing else: one word among them would make text of all.
    """
    table, lines = cells(path)
    for name in table.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes]]:
        told = table[name].dropna()
        words = told[pd.to_numeric(told, errors="coerce").isna()]
        if 0 < len(words) < len(told) / 2:
            said = f"line {lines[words.index[0]]} has {words.iloc[0]!r} in the column {name}"
            raise DataError(f"{path}: {said}, whose other cells are numbers.")
    return table


def cells(path, called="table with commas", **options):
    """(data frame, the line of each row) of a file; DataError, with what the file is `called`, where it is none.

    Every line must have as many cells as the first: pandas makes an index of one more, and fills up what is cut off.
    `options` are those of `pandas.read_csv`.
    """
    with store.regular(path) as file:
        content = file.read()
    try:
        text = content.decode("utf-8-sig")
        lines = _lines(text)
        return pd.read_csv(io.StringIO(text, newline=""), **options), lines
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        why = f"line {line} is no text in UTF-8"
    except (_Damaged, ValueError, csv.Error) as error:
        why = " ".join(str(error).split())
    raise DataError(f"{path} is no {called}: {why}.")


class _Damaged(Exception):
    """What is wrong with a file that can be read."""


def _lines(text):
    """The number of the line in which each row ends, of a text whose rows have as many cells as its first line."""
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    counts = [(rows.line_num, row) for row in rows if row]  # pandas, too, passes over empty lines
    if not counts:
        raise _Damaged("it is empty")
    (_, names), *below = counts
    if not below:
        raise _Damaged("it has no row below the names of its columns")
    if twice := [name for name in names if names.count(name) > 1]:
        raise _Damaged(f"the column {twice[0]} stands there twice")
    for line, row in below:
        if len(row) != len(names):
            raise _Damaged(f"line {line} has {len(row)}, and the first {len(names)} cells")
    return [line for line, _ in below]
