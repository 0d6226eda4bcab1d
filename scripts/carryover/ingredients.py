"""What figures and tables are made of."""

import pandas as pd

from carryover import store


def read(path):
    """A dataset, or a table that ships with the project; store.DataError in one sentence for a file that is neither."""
    return pd.read_csv(path) if path.suffix == ".csv" else store.load(path)
