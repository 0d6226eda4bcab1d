"""Whether distances between source and target data predict transfer ("Features are fate", theorem 2.2 and Fig. 4)."""

import numpy as np
import pandas as pd
import xarray as xr

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, nearest
from carryover.claims.support.transferability import at, transferability

NAMES = {"kl": "the KL divergence", "wasserstein": "the Wasserstein-1 distance"}
BOTH = "the KL divergence, nor with the Wasserstein-1 distance, which orders these targets alike"
WEAK = -0.5
"""Rank correlation down to which one is not called negative."""


@checks.group("3.3 and App. E, Fig. 4", "rank correlation of transferability and distance")
def check(data, p):
    """Roles: `diagram` of linear transfer to targets of one norm within a right angle, over samples and noises; `risk`
    of that to targets of several norms at any angle, and `distances` of theirs from the source. Statistics are means
    over draws of rank correlations, and of a gain."""
    distances = data["distances"].map(lambda values: values.mean("repeat") if "repeat" in values.dims else values)
    setup = transferability(data["diagram"], "linear_transfer")
    setup = setup[setup["gamma"] != 1]
    setup = setup[setup["noise"] == nearest(setup["noise"].unique(), Runs("risk", data["risk"]).only("noise"), "noise")]
    single = distances.sel(target_norm=1.0)
    setup = setup.assign(kl=np.interp(setup["angle"], single["angle"], single["kl"]))
    runs = transferability(data["risk"], "linear_transfer")
    rows = {name: xr.DataArray(runs[name].to_numpy(), dims="row") for name in ("target_norm", "angle")}
    runs = runs.assign(**{name: at(distances, **rows)[name].values for name in NAMES})
    same = runs[runs["target_norm"] == 1]
    near = same[same["angle"] <= 0.5]
    gamma = f"at γ = {Runs('risk', data['risk']).only('gamma'):g}"
    weak = f"rank correlation not below {WEAK:g}".replace("-", "−")
    farthest = runs.loc[runs.groupby("seed")["kl"].idxmax()].set_index("seed")
    return [
        ("kl_setup", "For targets of one norm within a right angle, over all γ but 1, transferability is not "
         f"negatively correlated with {BOTH} ({weak})", _correlations(setup, "kl"), WEAK),
        ("not_kl", f"For targets of the source's norm at any angle, {gamma}, transferability is not negatively "
         f"correlated with {BOTH} ({weak})", _correlations(same, "kl"), WEAK),
        ("same_features", "The target farthest from the source by the KL divergence, which shares its features, gains "
         "from linear transfer", farthest["transferability"].where(farthest["angle"] == 1), 0.0, "theorem 2.2",
         "transferability"),
        ("monotone", "For targets of one norm within a right angle, at one number of samples, transferability falls "
         "with the KL divergence", -_correlations(near, "kl"), 0.9, checks.OWN,
         "rank correlation, with the sign changed"),
    ]  # fmt: skip


def _correlations(runs, distance):
    """Spearman's rank correlation between transferability and a distance, by seed."""
    groups = {seed: rows[["transferability", distance]] for seed, rows in runs.groupby("seed")}
    return pd.Series({seed: rows.corr("spearman").to_numpy()[0, 1] for seed, rows in groups.items()})
