"""What endless training on cross-entropy would make of diagonal networks: appendix C of "Feature reuse …".

There initial weights are forgotten, so that PT+FT ends where STL ends, at the least ℓ1 norm for its margin, and MTL at
the least ℓ1,2 norm. Margins grow like the logarithm of time, and what is left of the start falls like the inverse of a
logarithm of the margin: no network comes to that end. What can be claimed is that it comes nearer.
"""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.margins import at_margins
from carryover.claims.support.runs import Runs
from carryover.statistics import intervals

EARLY = 10.0  # margin of all samples early in training on what is fitted
LATE = 100.0  # margin late in it
NEAR = 0.1  # decades of test error that count as no difference


def check(data, p):
    """Role `trajectory`: PT+FT, and STL and MTL from two initial scales, on cross-entropy with all features shared.

    Statistics are means over seeds; STL is that from the smallest scale.
    """
    runs = Runs("trajectory", data["trajectory"])
    small, large = runs.where(protocol="multi_task").extremes("initial_scale")
    alone = runs.where(protocol="single_task", initial_scale=small)
    tuned, joint = runs.where(protocol="finetuning"), runs.where(protocol="multi_task", initial_scale=small)
    lazier = runs.where(protocol="multi_task", initial_scale=large)
    errors = _decades("risk_curve", alone, tuned)
    found = {
        "norm_nearer": _fallen(_decades("l1_norm_curve", tuned, alone)),
        "error_nearer": _fallen(errors),
        "alike": intervals.equivalence_margin(errors["late"], NEAR),
        "start_forgotten": _fallen(_decades("group_norm_curve", lazier, joint)),
        "shared": _decades("risk_curve", alone, joint)["late"],
    }
    return checks(found, small=small, large=large)


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
