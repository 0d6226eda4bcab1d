"""Our risks beside the published ones, cell by cell, with a z-score on the log risk.

The published table (resources/published/) gives mean and standard deviation of the risk over seeds. Risks span powers
of ten near the transition, so both sides are compared as log-normal: a published mean m and deviation s become
σ² = log(1 + s²/m²) and μ = log m − σ²/2.
"""

import numpy as np
import pandas as pd

PROTOCOLS = {
    "STL": "single_task",
    "MTL": "multi_task",
    "PT+FT": "finetuning",
    "STL (LR)": "single_task_probe",
    "PT+FT (LR)": "finetuning_probe",
}
CELL = ["protocol", "main_features", "overlap", "rescale", "samples"]
FEATURES = 40


def diagonal(table):
    """The published cells of diagonal networks in our own coordinates, from the table's rows (a DataFrame).

    Returns a DataFrame with the columns `experiment`, `CELL`, `risk_mean`, `risk_std`, `seeds`.
    """
    rows = table[table["experiment"].str.startswith("diagonal")].copy()
    nested = rows["experiment"].str.contains("nested")
    rows["protocol"] = rows["setup"].map(PROTOCOLS)
    rows["main_features"] = rows["active_dims"].where(nested, FEATURES).astype(int)
    rows["overlap"] = (rows["nested"] == "yes").astype(float).where(nested, rows["overlap"] / FEATURES)
    rows["rescale"] = rows["w_scaling"].fillna(1.0)
    rows["samples"] = rows["n_train"]
    rows["experiment"] = rows["experiment"].str.removeprefix("diagonal_").str.removesuffix("_rescale")
    return rows[["experiment", *CELL, "risk_mean", "risk_std", "seeds"]].drop_duplicates(["experiment", *CELL])


def log_moments(mean, std):
    """(μ, σ) of the logarithm of a log-normal variable with this mean and standard deviation."""
    variance = np.log1p((np.asarray(std) / mean) ** 2)
    return np.log(mean) - variance / 2, np.sqrt(variance)


def compare(risk, published, quantity, floor):
    """One row per cell that both sides have.

    Args:
        risk: DataFrame of our runs, with the columns `CELL`, `seed` and `quantity`.
        published: rows of `diagonal` for the same experiment.
        quantity: `risk_final` or `risk_best`; runs where it is NaN are left out.
        floor: cells whose published or own mean lies below are left out: there the stopping loss sets the risk.

    Returns a DataFrame with `CELL`, `risk_mean`, `ours` (geometric mean), `published` (likewise) and `z`, the
    difference of the mean log risks in standard errors.
    """
    ours = risk.dropna(subset=[quantity]).assign(log_risk=lambda runs: np.log(runs[quantity]))
    seeds = ours.groupby([*CELL, "seed"])["log_risk"].mean()  # one network solved in two ways is one network
    cells = seeds.groupby(CELL).agg(["mean", "std", "count"]).reset_index()
    both = published.merge(cells[cells["count"] > 1], on=CELL)
    mu, sigma = log_moments(both["risk_mean"], both["risk_std"])
    error = np.sqrt(sigma**2 / both["seeds"] + both["std"] ** 2 / both["count"])
    both = both.assign(published=np.exp(mu), ours=np.exp(both["mean"]), z=(both["mean"] - mu) / error)
    return both[(both["published"] > floor) & (both["ours"] > floor)].drop(columns=["mean", "std"])


def read(path):
    """The published table as a DataFrame."""
    return pd.read_csv(path)
