"""Our risks and the published ones, cell by cell, with a z-score of the log risk.

The published table (resources/published/) gives mean m and standard deviation s of the risk over seeds. Risks span
powers of ten near the transition, so both sides are compared as log-normal: σ² = log(1 + s²/m²), μ = log m − σ²/2.
"""

import json

import numpy as np
import pandas as pd

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
    """The published cells of a family of networks in our own coordinates.

    Parameters
    ----------
    table : pandas.DataFrame
        The published table.
    family : str
        One of `CELLS`.

    Returns
    -------
    pandas.DataFrame
        Columns `experiment` (overlap, nested, correlation_magnitude), `CELLS[family]` and `NUMBERS`; a deviation is NaN
        if one seed was published.
    """
    rows = table[table["experiment"].str.startswith(f"{family}_")].copy()
    nested, features = rows["experiment"].str.contains("nested"), FEATURES[family]
    rows["protocol"], rows["samples"] = rows["setup"].map(PROTOCOLS), rows["n_train"]
    if family == "diagonal":
        rows["main_features"] = rows["active_dims"].where(nested, features).astype(int)
        rows["overlap"] = (rows["nested"] == "yes").astype(float).where(nested, rows["overlap"] / features)
        rows["rescale"] = rows["w_scaling"].fillna(1.0)
    else:
        rows["main_features"] = rows["n_units"].where(nested, features).astype(int)
        rows["unit_correlations"] = [_cosines(row) for row in rows.itertuples()]
        rows["rescale"], rows["magnitude"] = rows["weight_scaling"].fillna(1.0), rows["magnitude"].fillna(1.0)
    rows["experiment"] = rows["experiment"].str.removeprefix(f"{family}_").str.removesuffix("_rescale")
    names = ["experiment", *CELLS[family]]
    return rows[[*names, *NUMBERS]].drop_duplicates(names)


def _cosines(row):
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


def both(data, family, floor):
    """Our risks and the published ones, one row per cell that both sides have.

    Parameters
    ----------
    data : dict
        `published`, the published table (pandas.DataFrame), and by the name of a published experiment our risks
        (xarray.Dataset).
    family : str
        One of `CELLS`.
    floor : float
        Cells with a published risk below it are left out: the stopping loss sets it.

    Returns
    -------
    pandas.DataFrame
        Columns of a cell, `published` (geometric mean), and for each of `RISKS` ours and its z-score; those of the
        smallest risk are NaN for networks that were fitted, not trained.
    """
    table = cells(data["published"], family)
    found = []
    for experiment in table["experiment"].unique():
        if experiment in data:
            runs, theirs = data[experiment][list(RISKS)].to_dataframe(), table[table["experiment"] == experiment]
            cell = ["experiment", *CELLS[family], "published"]
            final, best = (z_scores(runs, theirs, quantity)[[*cell, "ours", "z"]] for quantity in RISKS)
            found.append(final.merge(best, on=cell, how="left", suffixes=("_final", "_best")))
    rows = pd.concat(found, ignore_index=True)
    return rows[rows["published"] > floor].reset_index(drop=True)


def agreeing(z):
    """Whether z-scores (cells,) are within `NEAR` standard errors."""
    return np.abs(np.asarray(z)) < NEAR


def z_scores(risk, published, quantity):
    """Differences of mean log risks in standard errors, one row per cell that both sides have.

    Parameters
    ----------
    risk : pandas.DataFrame
        Our runs, with the columns of a cell, `seed` and `quantity`.
    published : pandas.DataFrame
        Rows of `cells` for the same experiment. If one seed was published, ours say how seeds spread.
    quantity : str
        `risk_final` or `risk_best`; runs of which it is NaN are left out.

    Returns
    -------
    pandas.DataFrame
        Columns of a cell, `risk_mean`, `ours` and `published` (geometric means) and `z`.
    """
    cell = [name for name in published.columns if name not in ("experiment", *NUMBERS)]
    ours = risk.dropna(subset=[quantity]).assign(log_risk=lambda runs: np.log(runs[quantity]))
    seeds = ours.groupby([*cell, "seed"])["log_risk"].mean()  # one network solved in two ways is one network
    moments = seeds.groupby(cell).agg(["mean", "std", "count"]).reset_index()
    rows = published.merge(moments[moments["count"] > 1], on=cell)
    mu, sigma = log_moments(rows["risk_mean"], rows["risk_std"].fillna(0))
    sigma = np.where(rows["seeds"] > 1, sigma, rows["std"])
    error = np.sqrt(sigma**2 / rows["seeds"] + rows["std"] ** 2 / rows["count"])
    rows = rows.assign(published=np.exp(mu), ours=np.exp(rows["mean"]), z=(rows["mean"] - mu) / error)
    return rows.drop(columns=["mean", "std"])
