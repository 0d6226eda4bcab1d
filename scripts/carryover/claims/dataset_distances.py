"""Distances between source and target data do not predict transfer ("Features are fate", theorem 2.2 and Fig. 4)."""

import pandas as pd
import xarray as xr

from carryover.analysis import intervals
from carryover.analysis.transferability import at, transferability
from carryover.config.parameters import NoParameters

Parameters = NoParameters


@intervals.claims("theorem 2.2, Fig. 4", "rank correlation of transferability and distance")
def check(data, p):
    """Roles: `risk` of linear transfer to targets of several angles and norms, `distances` from their source.
    Statistics are means over draws of rank correlations, and of a gain."""
    runs = transferability(data["risk"], "linear_transfer")
    rows = {name: xr.DataArray(runs[name].to_numpy(), dims="row") for name in ("target_norm", "angle")}
    distances = at(data["distances"], **rows)
    runs = runs.assign(kl=distances["kl"].values, wasserstein=distances["wasserstein"].mean("repeat").values)
    near = runs[(runs["target_norm"] == 1) & (runs["angle"] <= 0.5)]
    farthest = runs.loc[runs.groupby("seed")["kl"].idxmax()]
    return [
        ("monotone", "Within a right angle, at one norm, transferability falls with the KL divergence "
         "(rank correlation below -0.9)", -_correlations(near, "kl"), 0.9, None,
         "rank correlation, with the sign changed"),
        ("not_kl", "Over all angles and norms transferability does not fall with the KL divergence "
         "(rank correlation above -0.5)", _correlations(runs, "kl"), -0.5),
        ("not_wasserstein", "Over all angles and norms transferability does not fall with the Wasserstein-1 "
         "distance (rank correlation above -0.5)", _correlations(runs, "wasserstein"), -0.5),
        ("same_features", "The target of the largest KL divergence, which has the source's features, gains",
         farthest.set_index("seed")["transferability"].where(farthest["angle"].to_numpy() == 1), 0.0,
         "theorem 2.2", "transferability"),
    ]  # fmt: skip


def _correlations(runs, distance):
    """Spearman's rank correlation between transferability and a distance, by seed."""
    groups = {seed: rows[["transferability", distance]] for seed, rows in runs.groupby("seed")}
    return pd.Series({seed: rows.corr("spearman").to_numpy()[0, 1] for seed, rows in groups.items()})
