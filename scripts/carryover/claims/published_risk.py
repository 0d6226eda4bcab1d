"""Our risks and those published for "Feature reuse …", cell by cell, with a z-score of the log risk, and the share of
cells that agree. This tests our reproduction, and which of a network's risks was published.

The table of resources/published/ gives mean m and standard deviation s of the risk over seeds. Risks span powers of ten
near the transition, so both sides are compared as log-normal: σ² = log(1 + s²/m²), μ = log m − σ²/2.
"""

from functools import partial

import numpy as np
import pandas as pd

from carryover.claims.support.checks import Check, checks
from carryover.errors import UserError
from carryover.statistics.intervals import student, wilson

CELLS = {
    "diagonal": ["protocol", "main_features", "overlap", "rescale", "samples"],
    "relu": ["protocol", "main_features", "unit_correlations", "magnitude", "rescale", "samples"],
}
"""Coordinates of our runs that tell the cells of a family apart."""
RISKS = ("risk_final", "risk_best")
NEAR = 2  # standard errors within which a risk agrees with the published one
FAR = 4  # standard errors from which on a difference asks for a reason
FLOOR = 1e-8  # smaller published risks are left out: the stopping loss sets them
GROUPS = {
    "scratch": ("single_task",),
    "finetuned": ("finetuning",),
    "multi_task": ("multi_task",),
    "probes": ("single_task_probe", "finetuning_probe"),
    "kernels": ("single_task_kernel", "finetuning_kernel"),
}


def published_risk(data, p):
    """Roles: `published` (the table), and per published experiment (`overlap`, `nested`, `correlation_magnitude`) our
    risk dataset.

    Statistics are over cells, which share seeds and are taken as independent. UserError if no cell is of both sides.
    """
    cells = compared(data, p.family)
    if cells.empty:
        raise UserError(f"no published cell of {p.family} networks is among these runs.")
    near = agreeing(cells["z_best"].where(cells["z_best"].notna(), cells["z_final"]))
    trained = cells["z_best"].notna().to_numpy()
    nearer = near[trained].astype(float) - agreeing(cells["z_final"][trained])
    found = {"all": near, "smallest": Check(nearer, partial(student, over="cells"))}
    for name, protocols in GROUPS.items():
        if (own := cells["protocol"].isin(protocols)).any():
            found[name] = near[own]
    return checks(found, wilson)


def published_stopping(data, p):
    """Would the risks agree, had our training stopped at one training loss per experiment?

    Roles: `published` (the table), and per published experiment our measure `stopped`. The loss is that of most cells
    that agree. `<experiment>` is about all its cells of trained networks, `<experiment>_far` about those that are more
    than `FAR` standard errors away at the smallest risk of the whole training.
    """
    found = {}
    for experiment, runs in data.items():
        if experiment == "published":
            continue
        theirs = data["published"].query("family == @p.family and experiment == @experiment")
        z = {}
        for loss, stopped in runs.groupby("stopping_loss"):
            rows = z_scores(stopped.squeeze("stopping_loss").to_dataframe(), theirs, "risk_stopped")
            z[loss] = rows.loc[rows["published"] > FLOOR, "z"].to_numpy()
        best = max(z, key=lambda loss: agreeing(z[loss]).sum())
        far = np.abs(z[min(z)]) > FAR  # training to the end
        parts = {experiment: agreeing(z[best])} | ({f"{experiment}_far": agreeing(z[best])[far]} if far.any() else {})
        found |= checks(parts, wilson, loss=f"{best:.0e}", cells=int(far.sum()))
    return found


def compared(data, family):
    """Our risks and the published ones, one row per cell that both sides have.

    Parameters
    ----------
    data : dict
        `published`, the published table (pandas.DataFrame), and by the name of a published experiment our risks
        (xarray.Dataset).
    family : str
        One of `CELLS`.

    Returns
    -------
    pandas.DataFrame
        Columns of a cell, `published` (geometric mean, above `FLOOR`), and for each of `RISKS` ours and its z-score;
        those of the smallest risk are NaN for networks that were fitted, not trained.
    """
    table = data["published"]
    cell = ["experiment", *CELLS[family], "published"]
    found = []
    for experiment, theirs in table[table["family"] == family].groupby("experiment", sort=False):
        if experiment in data:
            runs = data[experiment][list(RISKS)].to_dataframe()
            final, best = (z_scores(runs, theirs, quantity)[[*cell, "ours", "z"]] for quantity in RISKS)
            found.append(final.merge(best, on=cell, how="left", suffixes=("_final", "_best")))
    rows = pd.concat(found, ignore_index=True)
    return rows[rows["published"] > FLOOR].reset_index(drop=True)


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
        Rows of the published table, of one experiment. If one seed was published, ours say how seeds spread.
    quantity : str
        `risk_final` or `risk_best`; runs of which it is NaN are left out.

    Returns
    -------
    pandas.DataFrame
        Columns of a cell, `risk_mean`, `ours` and `published` (geometric means) and `z`.
    """
    cell = CELLS[published["family"].iloc[0]]
    ours = risk.dropna(subset=[quantity]).assign(log_risk=lambda runs: np.log(runs[quantity]))
    seeds = ours.groupby([*cell, "seed"])["log_risk"].mean()  # one network solved in two ways is one network
    moments = seeds.groupby(cell).agg(["mean", "std", "count"]).reset_index()
    rows = published.merge(moments[moments["count"] > 1], on=cell)
    mu, sigma = log_moments(rows["risk_mean"], rows["risk_std"].fillna(0))
    sigma = np.where(rows["seeds"] > 1, sigma, rows["std"])
    error = np.sqrt(sigma**2 / rows["seeds"] + rows["std"] ** 2 / rows["count"])
    return rows.assign(published=np.exp(mu), ours=np.exp(rows["mean"]), z=(rows["mean"] - mu) / error)


def log_moments(mean, std):
    """(μ, σ) of the logarithm of a log-normal variable with this mean and standard deviation."""
    variance = np.log1p((np.asarray(std) / mean) ** 2)
    return np.log(mean) - variance / 2, np.sqrt(variance)
