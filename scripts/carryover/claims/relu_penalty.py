"""The implicit penalty of finetuning in ReLU networks: what it is like, curve by curve (Fig. 1a and b), what it
predicts for the risk (Fig. 1c), and whether trained networks obey it."""

import numpy as np
import xarray as xr

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, mean_over_samples, worst
from carryover.claims.support.transferability import at
from carryover.errors import UserError
from carryover.statistics import intervals

NEAR = 0.25  # distance of exponents that count as the same
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one
SAMPLES = 256  # fewest main-task samples from which on risks are compared
FACTOR = 1.25  # factor in cost, or in predicted risk, from which on pretraining is predicted to help or hurt
UNFITTED = 1e-4  # share of the targets' mean square up to which samples count as fitted
FLOOR = 1e-4  # share of the teacher's mean square below which risks count as the same
CELL = ["protocol", "samples", "correlation", "magnitude"]
TINY = 1e-12  # what weights that have not turned have turned


def relu_penalty(data, p):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]
    # Cost and local exponent at m = 1, by cosine, of units that pretraining left with these magnitudes.
    at_one = at(curve, 1e-3, magnitude=1.0)
    new, same, large = (at(at_one, auxiliary_magnitude=magnitude) for magnitude in (NEW, SAME, LARGE))
    dear, saved = np.log10(large["penalty"] / new["penalty"]), np.log10(new["penalty"] / same["penalty"])
    off = abs(same["exponent"] - 1)
    found = checks({
        "large_hurts": min(at(dear, correlation=0.9), -at(dear, correlation=1.0)),
        "comparable_helps": at(saved, correlation=0.9),
        "l1_like_1": -at(off, correlation=0.99),
        "l1_like_1_at_0.9": -at(off, correlation=0.9),
    }, intervals.exact)  # fmt: skip

    def smallest_gap(curve):
        """log₁₀ of the penalty of a new over that of a used unit, where it is smallest; NaN where no exponent is near
        1."""
        new, used = (at(curve, auxiliary_magnitude=magnitude) for magnitude in (NEW, SAME))
        linear = (abs(new["exponent"] - 1) <= NEAR) & (abs(used["exponent"] - 1) <= NEAR)
        return float(np.log10(new["penalty"] / used["penalty"]).where(linear).min())

    # Q penalty (eq 22 of "Feature reuse …") and its exponent, for the same magnitudes.
    diagonal = xr.Dataset({name: curve[f"diagonal_{name}"] for name in ("penalty", "exponent")})
    for cosine in (1.0, 0.99):
        relu = at(curve, correlation=cosine)
        values = {
            f"gap_{cosine:g}": min(smallest_gap(relu), smallest_gap(diagonal)),
            f"like_diagonal_{cosine:g}": -abs(relu["exponent"] - diagonal["exponent"]).max(),
        }
        found |= checks(values, intervals.exact, cosine=cosine)
    return found


def relu_penalty_risk(data, p):
    """Roles: `risk` over correlation and magnitude, and `penalty`, the measure `displacement` of finetuned networks.

    Each statistic is a mean over all numbers of samples from `SAMPLES` on, by seed, but of `order`, which is a rank
    correlation. Raises UserError where there are no so many samples.
    """
    every, penalty = Runs("risk", data["risk"]), Runs("penalty", data["penalty"])
    sizes = [n for n in every.sizes() if n >= SAMPLES]
    if not sizes:
        raise UserError(f"this claim needs {SAMPLES} samples or more of the role risk, not {every.sizes()[-1]:g}.")
    low, high = every.extremes("correlation")
    small, large = every.extremes("magnitude")

    # log₁₀ of the risk of STL over that of PT+FT, where training of the one that is expected to be worse is done
    by = "correlation", "magnitude", "samples"
    plain, done = every.risks_and_done("protocol", *by)
    gained = mean_over_samples(plain["single_task"] - done["finetuning"], sizes)
    kept = mean_over_samples(done["single_task"] - plain["finetuning"], sizes)
    # log₁₀ of the penalty of a new unit over that of the pretrained one
    new, paired = (np.log10(penalty.table(name, *by)) for name in ("penalty_new", "penalty_paired"))
    saved = mean_over_samples(new - paired, sizes)
    hurt = gained.loc[:, saved.mean() < -np.log10(FACTOR)]
    lost_by_small = kept[high, small] - gained[low, small]
    lost_by_large = gained[high, large] - kept[low, large]
    found = {
        "shared": kept[high, small],
        "reversal": -hurt.mean(axis=1, skipna=False),
        "no_reversal": kept[low, large],
        "loss_of_benefit": lost_by_small - lost_by_large,
        "order": saved.corrwith(gained, axis=1, method="spearman"),
    }
    return checks(found, low=low, high=high, small=small, large=large, fewest=sizes[0])


def relu_displacement(data, p):
    """Roles: `displacement` of the experiments `overlap`, `nested` and `magnitude`, of finetuned networks.

    Do weights stay as near their start as what they learn allows? The first two claims are on the condition and the n
    with the largest mean over seeds, without rescaling.
    """
    overlap, nested, magnitude = (Runs(role, data[role]) for role in ("overlap", "nested", "magnitude"))
    low, _ = magnitude.extremes("correlation")
    small = magnitude.options("magnitude")[-2]
    similar = magnitude.where(correlation=low, magnitude=small)
    most = similar.sizes()[-1]

    def nearest_start(runs, *conditions):
        """1 less squared distance over penalty, by seed, of the condition and the n where its mean is smallest."""
        return worst(1 - runs.ratio("displacement", "penalty", *conditions, "samples"))

    found = {
        "nearest": nearest_start(overlap, "unit_correlations"),
        "nearest_nested": nearest_start(nested.where(rescale=1.0), "main_features", "overlap"),
        "not_least": similar.where(samples=most).over_teacher("penalty"),
    }
    return checks(found, low=low, small=small, most=most)


def relu_least_penalty(data, p):
    """Role `least`: the measure `least_penalty` of networks finetuned and from scratch, over correlation and magnitude;
    `spread`: of networks finetuned on similar units from pretrained weights that were turned apart.

    Does the penalty predict which function finetuning finds? Networks that do not fit their samples are left out, since
    the prediction is of those that do. Each statistic is of the mean over conditions, seed by seed.
    """
    runs, spread = (Runs(role, data[role].where(data[role]["unfitted"] <= UNFITTED)) for role in ("least", "spread"))
    _, same = runs.extremes("correlation")
    least, large = runs.extremes("magnitude")

    def logs(some, *names, floor=TINY):
        """log₁₀ of quantities, not below a floor, each by seed (rows) and condition."""
        return (np.log10(some.table(name, *CELL).clip(lower=floor)) for name in names)

    penalty, smallest, turned, turned_least = logs(runs, "penalty", "penalty_least", "turned", "turned_predicted")
    excess = penalty - smallest
    # Units that need not turn together come nearer to the least penalty than those that must.
    spread_penalty, spread_smallest = logs(spread, "penalty", "penalty_least")
    apart = (excess.loc[:, spread_penalty.columns] - (spread_penalty - spread_smallest)).mean(axis=1)

    # Whether what is found is the function of least penalty: by its penalty, and in its weights.
    of = penalty.columns.to_frame()
    tuned, similar, small = of["protocol"] == "finetuning", of["correlation"] < same, of["magnitude"] < large
    groups = {
        "scratch": ~tuned,
        "shared": tuned & ~similar,
        "similar": tuned & similar & ~small,
        "small": tuned & similar & small,
    }
    found = {f"least_{name}": -_mean(10**excess - 1, chosen) for name, chosen in groups.items()}
    found |= {"whole": _mean(turned - turned_least, groups["small"]), "apart": apart}
    found |= _risks(*logs(runs, "risk_found", "risk_predicted", floor=FLOOR), same, least, large)
    return checks(found, same=same, least=least, large=large, magnitude=spread.only("magnitude"))


def _risks(found, predicted, same, least, large):
    """Whether what pretraining does to risks, log₁₀ of each, is what it does to those of the functions of least
    penalty."""
    found, predicted = (log["single_task"] - log["finetuning"] for log in (found, predicted))
    mean = predicted.where(found.notna()).mean()
    similar = mean.index.get_level_values("correlation") < same
    on_similar = [table.loc[:, similar] for table in (found, predicted)]
    rise, predicted_rise = (table.xs(large, axis=1, level="magnitude") - table.xs(least, axis=1, level="magnitude")
                            for table in on_similar)  # fmt: skip
    return {
        "gains": found.corrwith(predicted, axis=1, method="spearman"),
        "gains_similar": on_similar[0].corrwith(on_similar[1], axis=1, method="spearman"),
        "reversal": _mean(rise, predicted_rise.mean() > 0),
        "helps": _mean(found, mean >= np.log10(FACTOR)),
        "hurts": -_mean(found, -mean >= np.log10(FACTOR)),
    }


def _mean(table, chosen):
    """Mean over some conditions of a table, by seed; NaN where there is none."""
    return table.loc[:, chosen].mean(axis=1)
