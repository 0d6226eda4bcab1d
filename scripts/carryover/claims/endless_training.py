"""What endless training on cross-entropy would make of diagonal networks: appendix C of "Feature reuse …".

There initial weights are forgotten, so that PT+FT ends where STL ends, at the least ℓ1 norm for its margin, and MTL at
the least ℓ1,2 norm. Margins grow like the logarithm of time, and what is left of the start falls like the inverse of a
logarithm of the margin: no network comes to that end. What can be claimed is that it comes nearer.
"""

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.margins import at_margins
from carryover.claims.support.runs import Runs
from carryover.statistics import intervals

EARLY = 10.0  # margin of all samples early in training on what is fitted
LATE = 100.0  # margin late in it
NEAR = 0.1  # decades of test error that count as no difference
SECTION = "App. C"


@checks.group(SECTION, "log₁₀ of a ratio")
def check(data, p):
    """Role `trajectory`: PT+FT, and STL and MTL from two initial scales, on cross-entropy with all features shared.

    Statistics are means over seeds; STL is that from the smallest scale.
    """
    runs = Runs("trajectory", data["trajectory"])
    small, large = runs.where(protocol="multi_task").extremes("initial_scale")
    alone = runs.where(protocol="single_task", initial_scale=small)
    tuned, joint = runs.where(protocol="finetuning"), runs.where(protocol="multi_task", initial_scale=small)
    lazier = runs.where(protocol="multi_task", initial_scale=large)
    norms = _decades("l1_norm_curve", tuned, alone)
    errors = _decades("risk_curve", alone, tuned)
    scales = _decades("group_norm_curve", lazier, joint)
    over = f"from a margin of {EARLY:g} to one of {LATE:g}"
    trained = f"Trained to a margin of {LATE:g}"
    return [
        ("norm_nearer", "With longer training, finetuned networks come nearer to the ℓ1 norm of networks trained from "
         f"scratch, {over}", _fallen(norms), 0.0),
        ("error_nearer", "With longer training, finetuned networks come nearer to the test error of networks trained "
         f"from scratch, {over}", _fallen(errors), 0.0),
        ("alike", f"{trained}, finetuned networks err as networks trained from scratch do",
         intervals.equivalence_margin(errors["late"], NEAR), 0.0, checks.own(SECTION),
         "allowed less actual log₁₀ of a ratio"),
        ("start_forgotten", f"With longer training, multi-task networks from initial scales {small:g} and {large:g} "
         f"come nearer to each other in ℓ1,2 norm, {over}", _fallen(scales), 0.0),
        ("shared", f"{trained}, multi-task networks err less than networks trained from scratch",
         _decades("risk_curve", alone, joint)["late"], 0.0),
    ]  # fmt: skip


def _decades(curve, one, other):
    """log₁₀ of the ratio of a curve of some runs to that of others, by seed, at the `early` and the `late` margin."""
    margins = {"early": EARLY, "late": LATE}
    return pd.DataFrame({when: _at(one, curve, m) - _at(other, curve, m) for when, m in margins.items()})


def _at(runs, curve, margin):
    value = at_margins(runs.data, curve, [margin]).isel(margin=0, drop=True)
    return np.log10(Runs(runs.role, runs.data.assign(value=value), runs.chosen).by_seed("value"))


def _fallen(ratios):
    """By how much the size of a ratio has fallen, in the direction of its mean."""
    return np.sign(ratios["early"].mean()) * ratios["early"] - np.sign(ratios["late"].mean()) * ratios["late"]
