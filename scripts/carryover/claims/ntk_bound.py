"""Finetuning of wide ReLU networks between linear tasks ("Finetuning with linear teachers", section 6): the bound of
theorem 6.1, the norm in it (corollary 6.2), and what the distance between the tasks does to the risk."""

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs
from carryover.errors import UserError

NEAR = 0.1  # distance from the limit of infinite width that counts as near, as a share of the risk before training
ATTAINED = 0.95  # share of the sharp constant that is to be reached at most samples
PUBLISHED, SHARP = 3.0, 2.0  # constants in front of |Δ|: of corollary 6.2, and the smallest there is

BOUND, NORM, DISTANCE = "theorem 6.1", "corollary 6.2", "corollary 6.3"
MARGIN = "margin in units of |θ_T − θ_S|"


@checks.group(BOUND, "log₁₀ of a ratio of risks")
def check(data, p):
    """Roles: `bound`, the measure `ntk_bound` of trained networks, finetuned and from scratch. Only targets that
    differ from the source count; ratios of risks are in decades."""
    trained = Runs("bound", data["bound"]).trained()
    every = trained.data.to_dataframe().reset_index()
    every = every[every["distance"] > 0].assign(unit=every["corollary"] / PUBLISHED)
    tuned, alone = (every[every["protocol"] == name] for name in ("finetuning", "single_task"))
    if tuned.empty or alone.empty or not tuned["distance"].min() < 1 < tuned["distance"].max():
        raise UserError("this claim needs finetuning and single_task at distances on both sides of 1.")
    ideal, real = (tuned[name] / tuned["unit"] for name in ("ntk_norm_linear", "ntk_norm"))
    *_, fewer, most = np.unique(tuned["samples"])
    nearest = tuned["distance"].min()
    gain = _table(alone) - _table(tuned)
    return [
        ("bound", "The risk of trained wide networks stays below the first term of the bound of eq 11",
         _least(np.log10(every["bound"] / every["absolute_risk"]), every), 0.0, checks.OWN),
        ("vacuous", f"Up to n = {fewer:g} the first term of the bound exceeds the risk that networks have before "
         "finetuning", _least(np.log10(tuned["bound"] / tuned["start_risk"])[tuned["samples"] < most], tuned), 0.0,
         checks.own(BOUND)),
        ("sharp", "Where the source was learned exactly, √(ỹᵀH⁻¹ỹ) is at most 2 |θ_T − θ_S|, where the paper has 3",
         _least(SHARP - ideal, tuned), 0.0, checks.own(NORM), MARGIN),
        ("attained", f"At n = {most:g} the norm √(ỹᵀH⁻¹ỹ) comes close to 2 |θ_T − θ_S|, so that no smaller constant "
         "would do",
         _least((ideal - ATTAINED * SHARP)[tuned["samples"] == most], tuned), 0.0, checks.own(NORM), MARGIN),
        ("imperfect", f"After real pretraining √(ỹᵀH⁻¹ỹ) exceeds 3 |θ_T − θ_S| at the smallest distance, "
         f"{nearest:g}", _most((real - PUBLISHED)[tuned["distance"] == nearest], tuned), 0.0, checks.own(NORM),
         "√(ỹᵀH⁻¹ỹ) / |θ_T − θ_S| less 3"),
        ("grows", "The risk of finetuned networks grows with the distance of the tasks, |θ_T − θ_S|",
         _correlation(tuned), 0.9, DISTANCE, "rank correlation at one n, mean over n"),
        ("near_helps", "Finetuning beats training from scratch for tasks nearer than |θ_T|, at every n",
         gain.loc[:, gain.columns.get_level_values("distance") < 1].min(axis=1), 0.0, checks.own(DISTANCE)),
        ("far_hurts", "Finetuning loses to training from scratch for tasks farther than |θ_T|, on the mean over n",
         -gain.loc[:, gain.columns.get_level_values("distance") > 1].mean(axis=1), 0.0, checks.own(DISTANCE)),
        ("limit", "Trained networks end near the limit of infinite width",
         _least(NEAR - every["tangent_distance"] / every["start_risk"], every), 0.0,
         checks.own("exact and simulated"), "allowed less actual distance, as a share of the risk before training"),
    ]  # fmt: skip


def _least(values, runs):
    """Smallest of some of the runs' values, by seed."""
    return values.groupby(runs["seed"]).min()


def _most(values, runs):
    """Largest of some of the runs' values, by seed."""
    return values.groupby(runs["seed"]).max()


def _table(runs):
    """log₁₀ of the risk by seed (rows), distance and samples."""
    return np.log10(runs.pivot_table("absolute_risk", "seed", ["distance", "samples"]))


def _correlation(runs):
    """Spearman's correlation of risk and distance at one n, as a mean over n, by seed."""
    groups = runs.groupby(["seed", "samples"])
    correlations = {key: rows["absolute_risk"].corr(rows["distance"], method="spearman") for key, rows in groups}
    return pd.Series(correlations).groupby(level=0).mean()
