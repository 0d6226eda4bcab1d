"""Finetuning of wide ReLU networks between linear tasks ("Finetuning with linear teachers", section 6): the bound of
theorem 6.1, the norm in it (corollary 6.2), and what the distance between the tasks does to the risk."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from carryover.claims import _interval
from carryover.claims._runs import Runs
from carryover.errors import UserError
from carryover.parameters import parameter

PAPER, SHARP = 3.0, 2.0  # constants in front of |Δ|: of corollary 6.2, and the smallest there is


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(0.1, "distance from the limit of infinite width that counts as near, as a share of the "
                            "risk before training", above=0)  # fmt: skip
    attained: float = parameter(0.95, "share of the sharp constant that is to be reached at most samples", above=0,
                                maximum=1)  # fmt: skip


def check(data, p):
    """Roles: `bound`, the measure `ntk_bound` of trained networks, finetuned and from scratch. Only targets that
    differ from the source count; ratios of risks are in decades."""
    trained = Runs("bound", data["bound"]).where(solver="descent")
    every = trained.data.to_dataframe().reset_index()
    every = every[every["distance"] > 0].assign(unit=every["corollary"] / PAPER)
    tuned, alone = (every[every["protocol"] == name] for name in ("finetuning", "single_task"))
    if tuned.empty or alone.empty or not tuned["distance"].min() < 1 < tuned["distance"].max():
        raise UserError("this claim needs finetuning and single_task at distances on both sides of 1.")
    ideal, real = (tuned[name] / tuned["unit"] for name in ("ntk_norm_linear", "ntk_norm"))
    most = tuned["samples"].max()
    gain = _table(alone) - _table(tuned)
    return _interval.table(
        [
            ("bound", "The risk of trained networks is below 2√(ỹᵀH⁻¹ỹ/n)",
             _least(np.log10(every["bound"] / every["absolute_risk"]), every), 0.0),
            ("informative", f"At n = {most:g} that is below the risk before finetuning (decades)",
             _least(np.log10(tuned["start_risk"] / tuned["bound"])[tuned["samples"] == most], tuned), 0.0),
            ("corollary", "√(ỹᵀH⁻¹ỹ) is at most 3 |Δ| where the source was learned exactly",
             _least(PAPER - ideal, tuned), 0.0),
            ("sharp", "It is at most 2 |Δ|", _least(SHARP - ideal, tuned), 0.0),
            ("attained", f"At n = {most:g} it is above {p.attained * SHARP:g} |Δ|",
             _least((ideal - p.attained * SHARP)[tuned["samples"] == most], tuned), 0.0),
            ("pretrained", "As networks were really pretrained it is at most 3 |Δ| too, at all distances",
             _least(PAPER - real, tuned), 0.0),
            ("grows", "The risk of finetuned networks grows with |Δ| (rank correlation above 0.9, mean over n)",
             _correlation(tuned) - 0.9, 0.0),
            ("near_helps", "Finetuning beats training from scratch where |Δ| < 1, at every n and distance (decades)",
             gain.loc[:, gain.columns.get_level_values("distance") < 1].min(axis=1), 0.0),
            ("far_hurts", "It is worse where |Δ| > 1, on the mean over n (decades)",
             -gain.loc[:, gain.columns.get_level_values("distance") > 1].mean(axis=1), 0.0),
            ("limit", f"Networks are within {p.near:.0%} of the limit of infinite width",
             _least(p.near - every["tangent_distance"] / every["start_risk"], every), 0.0),
        ]
    )  # fmt: skip


def _least(values, runs):
    """Smallest of some of the runs' values, by seed."""
    return values.groupby(runs["seed"]).min()


def _table(runs):
    """log₁₀ of the risk by seed (rows), distance and samples."""
    return np.log10(runs.pivot_table("absolute_risk", "seed", ["distance", "samples"]))


def _correlation(runs):
    """Spearman's correlation of risk and distance at one n, as a mean over n, by seed."""
    groups = runs.groupby(["seed", "samples"])
    found = {key: rows["absolute_risk"].corr(rows["distance"], method="spearman") for key, rows in groups}
    return pd.Series(found).groupby(level=0).mean()
