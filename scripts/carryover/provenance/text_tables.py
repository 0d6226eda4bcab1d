"""Tables as text, with commas between cells and names in the first line."""

import csv
import io

import pandas as pd

from carryover.errors import DataError
from carryover.provenance import store


def read(path, kind="table with commas", **options):
    """A table as a data frame.

    Parameters
    ----------
    path : pathlib.Path
    kind : str
        What the file should be, in words.
    **options
        Of `pandas.read_csv`.

    Raises
    ------
    DataError
        For a file that is none, or whose lines have different numbers of cells, which pandas would fill up.
    """
    with store.regular(path) as file:
        content = file.read()
    try:
        text = content.decode("utf-8-sig")
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        lengths = {len(row): rows.line_num for row in rows if row}
        if len(lengths) > 1:
            counts = " and ".join(f"line {line} has {cells} cells" for cells, line in lengths.items())
            raise ValueError(counts)
        return pd.read_csv(io.StringIO(text, newline=""), **options)
    except (ValueError, csv.Error) as error:
        raise DataError(f"{path} is no {kind}: {' '.join(str(error).split())}.") from None
