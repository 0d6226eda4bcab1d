"""How well bounds tell errors apart: R² over pairs of tasks, as in Table 1 of "Finetuning with linear teachers"."""

import pandas as pd

from carryover.errors import UserError

BOUNDS = {
    "distance": "squared distance of source and target",
    "benign_overfitting": "benign overfitting",
    "covariance": "covariance of the target (m = 2)",
}
GROUP = ["cutoff", "seed", "samples"]
FEWEST = 3  # pairs; two points always lie on a line


def finetuned(data):
    """The runs of a collected dataset of the measure `bounds` that started from a source task, as a DataFrame.

    Raises UserError where a number of samples has fewer than three pairs.
    """
    runs = data.to_dataframe()
    runs = runs[runs["protocol"] == "finetuning"]
    pairs = runs.groupby(GROUP)["pair"].nunique()
    if pairs.empty or pairs.min() < FEWEST:
        raise UserError(f"R² needs {FEWEST} pairs of tasks or more that were finetuned: raise pairs.")
    return runs


def r_squared(data):
    """Squared Pearson correlation over pairs of the error with each bound, a DataFrame.

    Args: data, a collected dataset of the measure `bounds`. Returns one row per cutoff, seed and number of samples (the
    index) and a column per bound of `BOUNDS`, NaN where the error or a bound is the same for all pairs. Raises as
    `finetuned`.
    """
    groups = finetuned(data).groupby(GROUP)
    rows = {key: runs[list(BOUNDS)].corrwith(runs["risk_final"]) ** 2 for key, runs in groups}
    return pd.DataFrame(rows).T.rename_axis(GROUP)


def published(table, bound):
    """R² and deviation by number of samples, two Series, of a bound in the published table (a DataFrame)."""
    rows = table[table["bound"] == bound].set_index("samples")
    return rows["r_squared"], rows["deviation"]
