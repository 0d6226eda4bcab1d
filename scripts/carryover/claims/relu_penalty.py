"""The implicit penalty of finetuning in ReLU networks: what it is like, curve by curve (Fig. 1a and b), what it
predicts for the risk (Fig. 1c), and whether trained networks obey it.

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables of `Runs` have seeds as rows and the named coordinates as columns: `risks[a, b]` is a Series over seeds.
"""

import numpy as np
import xarray as xr
from scipy.stats import spearmanr

from carryover.analysis.relu import FLOOR, UNFITTED
from carryover.analysis.run_tables import Runs, mean_over_samples, only, worst
from carryover.analysis.transferability import at
from carryover.claims.support.checks import checks
from carryover.config import plugins
from carryover.errors import UserError
from carryover.statistics import intervals

NEAR = 0.25  # distance of exponents that count as the same
NEW, SAME, LARGE = 0.01, 1.0, 100.0  # magnitudes in the auxiliary task of a feature that has about 1 in the main one
SAMPLES = 256  # fewest main-task samples from which on risks are compared
FACTOR = 1.25  # factor in cost, or in predicted risk, from which on pretraining is predicted to help or hurt
CELL = ["protocol", "samples", "correlation", "magnitude"]
TINY = 1e-12  # floor of the angles by which weights turned


@plugins.check(data=["curve"])
def relu_penalty(data):
    """Role: `curve` of curves.relu_penalty, with cosines .9, .99 and 1 and auxiliary magnitudes .01, 1 and 100.

    Statistics are computed, not drawn. Raises UserError for a cosine or magnitude that the curve does not have.
    """
    curve = data["curve"]
    # Cost and local exponent at m = 1, by cosine, of units that pretraining left with these magnitudes.
    at_one = at(curve, 1e-3, magnitude=1.0)  # 1e-3 is the tolerance of the grid of magnitudes
    new, same, large = (at(at_one, auxiliary_magnitude=magnitude) for magnitude in (NEW, SAME, LARGE))
    extra = np.log10(large["penalty"] / new["penalty"])
    saved = np.log10(new["penalty"] / same["penalty"])
    results = checks({
        "unique_root": curve["stationary_points"].max().item(),
        # Positive if a very large unit is dearer than a new one at cosine .9 and cheaper at cosine 1.
        "large_hurts": min(at(extra, correlation=0.9), -at(extra, correlation=1.0)),
        "comparable_helps": at(saved, correlation=0.9),
        "l1_like_1": at(same["exponent"], correlation=0.99),
        "l1_like_1_at_0.9": at(same["exponent"], correlation=0.9),
    }, intervals.exact)  # fmt: skip

    def smallest_gap(curve):
        """Least log₁₀ of the penalty of a new unit over that of a used one where both exponents are near 1, or NaN.

        `curve` has `penalty` and `exponent` (auxiliary_magnitude, magnitude)."""
        new, used = (at(curve, auxiliary_magnitude=magnitude) for magnitude in (NEW, SAME))
        linear = (abs(new["exponent"] - 1) <= NEAR) & (abs(used["exponent"] - 1) <= NEAR)
        return float(np.log10(new["penalty"] / used["penalty"]).where(linear).min())

    # Q penalty (eq 22 of "Feature reuse …") and its exponent, for the same magnitudes.
    diagonal = xr.Dataset({name: curve[f"diagonal_{name}"] for name in ("penalty", "exponent")})
    for cosine in (1.0, 0.99):
        relu = at(curve, correlation=cosine)
        exponents = (part["exponent"].transpose(*diagonal["exponent"].dims).values.ravel() for part in (relu, diagonal))
        results |= checks({
            f"gap_{cosine:g}": min(smallest_gap(relu), smallest_gap(diagonal)),
            f"like_diagonal_{cosine:g}": spearmanr(*exponents).statistic,
        }, intervals.exact, cosine=cosine)  # fmt: skip
    return results


@plugins.check(data=["risk", "penalty"])
def relu_penalty_risk(data):
    """Roles: `risk` over correlation and magnitude, and `penalty`, the measure `displacement` of finetuned networks.

    Each statistic is by seed, of means over all numbers of samples from `SAMPLES` on; `order` is a rank correlation
    over conditions. Raises UserError where no run has so many samples.
    """
    risk, penalty = Runs("risk", data["risk"]), Runs("penalty", data["penalty"])
    known = risk.options("samples")
    sizes = [n for n in known if n >= SAMPLES]
    if not sizes:
        raise UserError(f"this claim needs {SAMPLES} samples or more of the role risk, not {known[-1]:g}.")
    low, high = risk.extremes("correlation")
    small, large = risk.extremes("magnitude")

    # log₁₀ of the risk of STL over that of PT+FT; training must have ended where the larger risk is expected.
    by = "correlation", "magnitude", "samples"
    risks, finished = risk.risks_by_completion("protocol", *by)
    gain = mean_over_samples(risks["single_task"] - finished["finetuning"], sizes)
    expected_gain = mean_over_samples(finished["single_task"] - risks["finetuning"], sizes)
    # log₁₀ of the penalty of a new unit over that of the pretrained one
    new, paired = (np.log10(penalty.table(name, *by)) for name in ("penalty_new", "penalty_paired"))
    saved = mean_over_samples(new - paired, sizes)
    nearest = np.log10(penalty.table("penalty_teacher", *by)) - paired
    predicted_to_hurt = gain.loc[:, saved.mean() < -np.log10(FACTOR)]
    # What the low cosine takes from the gain. Both tables have NaN where unfinished training would favour the claim.
    lost_by_small = expected_gain[high, small] - gain[low, small]
    lost_by_large = gain[high, large] - expected_gain[low, large]
    return checks({
        "shared": expected_gain[high, small],
        "pretrained_norm": mean_over_samples(nearest, sizes)[high, large],
        "reversal": -predicted_to_hurt.mean(axis=1, skipna=False),
        "no_reversal": expected_gain[low, large],
        "loss_of_benefit": lost_by_small - lost_by_large,
        "order": saved.corrwith(gain, axis=1, method="spearman"),
    }, low=low, high=high, small=small, large=large, fewest=sizes[0])  # fmt: skip


@plugins.check(data=["overlap", "nested", "single_new", "magnitude"])
def relu_displacement(data):
    """Do weights stay as near their start as the learned function allows? Then the squared distance is the penalty.

    Roles: the measure `displacement` of finetuned networks of the experiments `overlap`, `nested` and `magnitude`, and
    of `single_new`, nested tasks with a single unit, a new one, whose results vary most between seeds. `nearest` and
    `nearest_nested` are tested without rescaling, at the condition and n whose mean over seeds is largest.
    """
    overlap, nested, single, magnitude = (Runs(role, data[role])
                                          for role in ("overlap", "nested", "single_new", "magnitude"))  # fmt: skip
    low, _ = magnitude.extremes("correlation")
    small = magnitude.options("magnitude")[-2]  # the second largest
    similar = magnitude.where(correlation=low, magnitude=small)
    most = similar.options("samples")[-1]

    # Excess over 1 of the ratio of squared distance to penalty: a row per seed, a column per condition and n.
    few, _ = nested.extremes("main_features")
    alone, single_most = single.where(rescale=1.0, main_features=few, overlap=0.0), single.options("samples")[-1]
    excess = overlap.ratio("displacement", "penalty", "unit_correlations", "samples") - 1
    nested_excess = (
        nested.where(rescale=1.0).ratio("displacement", "penalty", "main_features", "overlap", "samples") - 1
    )
    return checks({
        "nearest": worst(excess, "below"),
        "nearest_nested": worst(nested_excess.drop(columns=[(few, 0.0)]), "below"),
        "nearest_new": alone.ratio("displacement", "penalty", "samples")[single_most] - 1,
        "not_least": similar.where(samples=most).over_teacher("penalty"),
    }, low=low, small=small, most=most, most_single=single_most)  # fmt: skip


@plugins.check(data=["least", "spread"])
def relu_least_penalty(data):
    """Role `least`: the measure `least_penalty` of networks finetuned and from scratch, over correlation and magnitude.
    Role `spread`: the same of networks finetuned on similar units after their pretrained weights were rotated apart.

    Does the penalty predict which function finetuning finds? The prediction is for networks that fit their samples, so
    the others are left out. Each statistic is a mean over conditions, by seed.
    """
    runs, spread = (Runs(role, data[role].where(data[role]["unfitted"] <= UNFITTED)) for role in ("least", "spread"))
    _, same = runs.extremes("correlation")
    least, large = runs.extremes("magnitude")

    def logs(networks, *names, floor=TINY):
        """log₁₀ of quantities of a `Runs`, not below a floor, a table for each, by seed (rows) and `CELL` (columns)."""
        return (np.log10(networks.table(name, *CELL).clip(lower=floor)) for name in names)

    penalty, smallest, turned, turned_least = logs(runs, "penalty", "penalty_least", "rotation", "rotation_predicted")
    excess = penalty - smallest
    # Units that need not turn together come nearer to the least penalty than those that must.
    spread_penalty, spread_smallest = logs(spread, "penalty", "penalty_least")
    spread_gain = (excess.loc[:, spread_penalty.columns] - (spread_penalty - spread_smallest)).mean(axis=1)

    # Whether networks find the function of least penalty, judged by their penalty and by their weights.
    cell = penalty.columns.to_frame()
    tuned, similar, small = cell["protocol"] == "finetuning", cell["correlation"] < same, cell["magnitude"] < large
    groups = {
        "scratch": ~tuned,
        "shared": tuned & ~similar,
        "similar": tuned & similar & ~small,
        "small": tuned & similar & small,
    }
    statistics = {f"least_{name}": (10 ** excess.loc[:, group] - 1).mean(axis=1) for name, group in groups.items()}
    statistics |= {"whole": (turned - turned_least).loc[:, groups["small"]].mean(axis=1), "apart": spread_gain}

    # Gains by pretraining, log₁₀ of the ratio of risks, of trained networks and of the functions of least penalty.
    trained, predicted = logs(runs, "risk_found", "risk_predicted", floor=FLOOR)
    gain, predicted_gain = (log_risk["single_task"] - log_risk["finetuning"] for log_risk in (trained, predicted))
    mean = predicted_gain.where(gain.notna()).mean()
    on_similar, predicted_on_similar = (table.loc[:, mean.index.get_level_values("correlation") < same]
                                        for table in (gain, predicted_gain))  # fmt: skip
    # How much gains rise from the least to the largest magnitude.
    rise, predicted_rise = (table.xs(large, axis=1, level="magnitude") - table.xs(least, axis=1, level="magnitude")
                            for table in (on_similar, predicted_on_similar))  # fmt: skip
    statistics |= {
        "gains": gain.corrwith(predicted_gain, axis=1, method="spearman"),
        "gains_similar": on_similar.corrwith(predicted_on_similar, axis=1, method="spearman"),
        "reversal": rise.loc[:, predicted_rise.mean() > 0].mean(axis=1),
        "helps": gain.loc[:, mean >= np.log10(FACTOR)].mean(axis=1),
        "hurts": -gain.loc[:, -mean >= np.log10(FACTOR)].mean(axis=1),
    }
    return checks(statistics, same=same, least=least, large=large, magnitude=only(spread.data, "magnitude"))
