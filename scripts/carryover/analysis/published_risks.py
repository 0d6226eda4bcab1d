"""Our risks beside the published ones, cell by cell, with a z-score on the log risk.

The published table (resources/published/) gives mean and standard deviation of the risk over seeds. Risks span powers
of ten near the transition, so both sides are compared as log-normal: a published mean m and deviation s become
σ² = log(1 + s²/m²) and μ = log m − σ²/2.
"""

import json

import numpy as np
import pandas as pd

from carryover.analysis import text_tables

PROTOCOLS = {
    "STL": "single_task",
    "MTL": "multi_task",
    "PT+FT": "finetuning",
    "STL (LR)": "single_task_probe",
    "PT+FT (LR)": "finetuning_probe",
    "STL (NTK)": "single_task_kernel",
    "PT+FT (NTK)": "finetuning_kernel",
}
CELLS = {
    "diagonal": ["protocol", "main_features", "overlap", "rescale", "samples"],
    "relu": ["protocol", "main_features", "unit_correlations", "magnitude", "rescale", "samples"],
}
NUMBERS = ["risk_mean", "risk_std", "seeds"]
RISKS = ("risk_final", "risk_best")
NEAR = 2
"""Standard errors within which a risk agrees with the published one."""
FEATURES = {"diagonal": 40, "relu": 6}


def cells(table, family):
    """The published cells of a family in our own coordinates, from the table's rows (a DataFrame).

    Returns a DataFrame with the columns `experiment` (overlap, nested, correlation_magnitude), `CELLS[family]` and
    `NUMBERS`; a deviation is NaN where one seed was published.
    """
    rows = table[table["experiment"].str.startswith(f"{family}_")].copy()
    nested = rows["experiment"].str.contains("nested")
    rows["protocol"], rows["samples"] = rows["setup"].map(PROTOCOLS), rows["n_train"]
    rows = {"diagonal": _diagonal, "relu": _relu}[family](rows, nested)
    rows["experiment"] = rows["experiment"].str.removeprefix(f"{family}_").str.removesuffix("_rescale")
    names = ["experiment", *CELLS[family]]
    return rows[[*names, *NUMBERS]].drop_duplicates(names)


def _diagonal(rows, nested):
    features = FEATURES["diagonal"]
    rows["main_features"] = rows["active_dims"].where(nested, features).astype(int)
    rows["overlap"] = (rows["nested"] == "yes").astype(float).where(nested, rows["overlap"] / features)
    rows["rescale"] = rows["w_scaling"].fillna(1.0)
    return rows


def _relu(rows, nested):
    rows["main_features"] = rows["n_units"].where(nested, FEATURES["relu"]).astype(int)
    rows["unit_correlations"] = [_listed(row) for row in rows.itertuples()]
    rows["rescale"], rows["magnitude"] = rows["weight_scaling"].fillna(1.0), rows["magnitude"].fillna(1.0)
    return rows


def _listed(row):
    """'1 1 0.9 0' of a row that lists its cosines as '[1.0, 1.0, 0.9, 0.0]', or has one for all of its units."""
    if str(row.correlation).startswith("["):
        cosines = json.loads(row.correlation)
    else:
        cosines = [row.corr if np.isfinite(row.corr) else float(row.correlation)] * row.main_features
    return " ".join(f"{cosine:g}" for cosine in cosines)


def log_moments(mean, std):
    """(μ, σ) of the logarithm of a log-normal variable with this mean and standard deviation."""
    variance = np.log1p((np.asarray(std) / mean) ** 2)
    return np.log(mean) - variance / 2, np.sqrt(variance)


def beside(data, family, floor):
    """Our risks beside the published ones of a family of networks, one row per cell that both sides have.

    Args:
        data: `published`, the table's rows, and by the name of a published experiment our risks (a Dataset of runs).
        family: of `CELLS`.
        floor: cells whose published risk lies below are left out: the stopping loss sets it. One of ours there,
            beside a published one above, is compared.

    Returns a DataFrame with the columns of a cell, `published` (geometric mean), and for each of `RISKS` ours and its
    z-score; the smallest one's are NaN where no network was trained, as of kernels that were fitted.
    """
    table = cells(data["published"], family)
    found = []
    for experiment in table["experiment"].unique():
        if experiment in data:
            runs, theirs = data[experiment][list(RISKS)].to_dataframe(), table[table["experiment"] == experiment]
            cell = ["experiment", *CELLS[family], "published"]
            final, best = (compare(runs, theirs, quantity)[[*cell, "ours", "z"]] for quantity in RISKS)
            found.append(final.merge(best, on=cell, how="left", suffixes=("_final", "_best")))
    both = pd.concat(found, ignore_index=True)
    return both[both["published"] > floor].reset_index(drop=True)


def agreeing(z):
    """Of z-scores (cells,) which are within `NEAR` standard errors."""
    return np.abs(np.asarray(z)) < NEAR


def compare(risk, published, quantity):
    """One row per cell that both sides have.

    Args:
        risk: DataFrame of our runs, with the columns of a cell, `seed` and `quantity`.
        published: rows of `cells` for the same experiment. Where one seed was published, ours say how seeds spread.
        quantity: `risk_final` or `risk_best`; runs where it is NaN are left out.

    Returns a DataFrame with the columns of a cell, `risk_mean`, `ours` (geometric mean), `published` (likewise) and
    `z`, the difference of the mean log risks in standard errors.
    """
    cell = [name for name in published.columns if name not in ("experiment", *NUMBERS)]
    ours = risk.dropna(subset=[quantity]).assign(log_risk=lambda runs: np.log(runs[quantity]))
    seeds = ours.groupby([*cell, "seed"])["log_risk"].mean()  # one network solved in two ways is one network
    cells = seeds.groupby(cell).agg(["mean", "std", "count"]).reset_index()
    both = published.merge(cells[cells["count"] > 1], on=cell)
    mu, sigma = log_moments(both["risk_mean"], both["risk_std"].fillna(0))
    sigma = np.where(both["seeds"] > 1, sigma, both["std"])
    error = np.sqrt(sigma**2 / both["seeds"] + both["std"] ** 2 / both["count"])
    both = both.assign(published=np.exp(mu), ours=np.exp(both["mean"]), z=(both["mean"] - mu) / error)
    return both.drop(columns=["mean", "std"])


def read(path):
    """The published table as a DataFrame; DataError for a damaged file."""
    return text_tables.read(path)
