"""Finetuning of wide ReLU networks between linear tasks ("Finetuning with linear teachers", section 6): the bound of
theorem 6.1, the norm in it (corollary 6.2), and what the distance between the tasks does to the risk."""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks

NEAR = 0.1  # distance from the limit of infinite width that counts as near, as a share of the risk before training
ATTAINED = 0.95  # share of the sharp constant that is to be reached at most samples
PUBLISHED, SHARP = 3.0, 2.0  # constants in front of |Δ|: of corollary 6.2, and the smallest there is


def check(data, p):
    """Roles: `bound`, the measure `ntk_bound` of trained networks, finetuned and from scratch. Only targets that
    differ from the source count; ratios of risks are in decades."""
    every = data["bound"].to_dataframe().reset_index()
    every = every[(every["solver"] != "exact") & (every["distance"] > 0)].assign(unit=every["corollary"] / PUBLISHED)
    tuned, alone = (every[every["protocol"] == name] for name in ("finetuning", "single_task"))
    ideal, real = (tuned[name] / tuned["unit"] for name in ("ntk_norm_linear", "ntk_norm"))
    *_, fewer, most = np.unique(tuned["samples"])
    nearest = tuned["distance"].min()
    gain = _log_risk(alone) - _log_risk(tuned)
    distance = gain.columns.get_level_values("distance")
    correlations = {key: rows["absolute_risk"].corr(rows["distance"], method="spearman")
                    for key, rows in tuned.groupby(["seed", "samples"])}  # fmt: skip
    found = {
        "bound": _least(np.log10(every["bound"] / every["absolute_risk"]), every),
        "vacuous": _least(np.log10(tuned["bound"] / tuned["start_risk"])[tuned["samples"] < most], tuned),
        "sharp": _least(SHARP - ideal, tuned),
        "attained": _least((ideal - ATTAINED * SHARP)[tuned["samples"] == most], tuned),
        "imperfect": (real - PUBLISHED)[tuned["distance"] == nearest].groupby(tuned["seed"]).max(),
        "grows": pd.Series(correlations).groupby(level=0).mean(),
        "near_helps": gain.loc[:, distance < 1].min(axis=1),
        "far_hurts": -gain.loc[:, distance > 1].mean(axis=1),
        "limit": _least(NEAR - every["tangent_distance"] / every["start_risk"], every),
    }
    return checks(found, fewer=fewer, most=most, nearest=nearest)


def _least(values, runs):
    """Smallest of some of the runs' values, by seed."""
    return values.groupby(runs["seed"]).min()


def _log_risk(runs):
    """log₁₀ of the risk by seed (rows), distance and samples."""
    return np.log10(runs.pivot_table("absolute_risk", "seed", ["distance", "samples"]))
