"""Whether distances between source and target data predict transfer ("Features are fate", theorem 2.2 and Fig. 4)."""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, nearest
from carryover.claims.support.transferability import at, transferability


def check(data, p):
    """Roles: `diagram` of linear transfer to targets of one norm within a right angle, over samples and noises; `risk`
    of that to targets of several norms at any angle, and `distances` of theirs from the source. Statistics are means
    over draws of rank correlations, and of a gain."""
    kl = data["distances"]["kl"]
    noise, gamma = (Runs("risk", data["risk"]).only(name) for name in ("noise", "gamma"))
    setup = transferability(data["diagram"], "linear_transfer")
    setup = setup[setup["gamma"] != 1]
    setup = setup[setup["noise"] == nearest(setup["noise"].unique(), noise, "noise")]
    single = kl.sel(target_norm=1.0)
    setup = setup.assign(kl=np.interp(setup["angle"], single["angle"], single))
    runs = transferability(data["risk"], "linear_transfer")
    rows = {name: xr.DataArray(runs[name].to_numpy(), dims="row") for name in ("target_norm", "angle")}
    runs = runs.assign(kl=at(kl, **rows).values)
    same = runs[runs["target_norm"] == 1]
    farthest = runs.loc[runs.groupby("seed")["kl"].idxmax()].set_index("seed")
    found = {
        "kl_setup": _correlations(setup),
        "not_kl": _correlations(same),
        "same_features": farthest["transferability"].where(farthest["angle"] == 1),
        "monotone": -_correlations(same[same["angle"] <= 0.5]),
    }
    return checks(found, gamma=gamma)


def _correlations(runs):
    """Spearman's rank correlation between transferability and the KL divergence, by seed."""
    groups = {seed: rows[["transferability", "kl"]] for seed, rows in runs.groupby("seed")}
    return pd.Series({seed: rows.corr("spearman").to_numpy()[0, 1] for seed, rows in groups.items()})
