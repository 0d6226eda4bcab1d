"""Diagonal linear networks: risks, and what is learned (Figs. 1 and 5 of "Feature reuse …").

Statistics of risks are log₁₀ of a ratio. "The implicit penalty", 1.2, has the claims on nested tasks: only rescaled
networks select few of the auxiliary features, and they pay for it where all are needed.

On cross-entropy, training longer acts like starting smaller (appendix C). Endless training would make diagonal
networks forget their start, so that PT+FT ends where STL ends, at the least ℓ1 norm for its margin, and MTL at the
least ℓ1,2 norm. Margins grow like the logarithm of time, and what is left of the start falls like the inverse of a
logarithm of the margin: no network comes to that end. What can be claimed is that it comes nearer.

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables of `Runs` have seeds as rows and the named coordinates as columns: `risks[a, b]` is a Series over seeds.
"""

from itertools import pairwise

import numpy as np
import pandas as pd
from pydantic import PositiveInt

from carryover.analysis.margins import FAMILIES, FITTED, at_margins, interpolate, margins
from carryover.analysis.run_tables import Runs, only
from carryover.claims.support.checks import checks
from carryover.config import plugins
from carryover.config.parameters import Model, parameter

HALF = 0.5  # share of features in common at which sharing is looked at
MOVING = 0.25  # initial scale from which features still move after samples are fitted; from 1 they barely do
EARLY, LATE = 10.0, 100.0  # margin of all samples early and late in training on what is fitted
NETWORKS = {"finetuning": "finetuned", "multi_task": "multi-task"}


class FeatureReuse(Model):
    samples: PositiveInt = parameter(32, "main-task samples at which protocols are compared")


@plugins.check(data=["risk"])
def feature_reuse(data, p: FeatureReuse):
    """Role: `risk` of the overlap experiment; `overlap` is the share of main features that are auxiliary ones, too."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    all_shared = runs.extremes("overlap")[1]

    risks = runs.risks("protocol", "overlap")
    return checks({
        "finetuning_shared": risks["single_task", all_shared] - risks["finetuning", all_shared],
        "multi_task_shared": risks["single_task", all_shared] - risks["multi_task", all_shared],
        "probe_insufficient": risks["finetuning_probe", HALF] - risks["finetuning", HALF],
        "multi_task_first": (risks["finetuning"] - risks["multi_task"]).mean(axis=1),
    }, samples=p.samples)  # fmt: skip


class DiagonalNesting(Model):
    samples: PositiveInt = parameter(16, "main-task samples at which networks are compared")


@plugins.check(data=["risk"])
def diagonal_nesting(data, p: DiagonalNesting):
    """Role: `risk` of a nested experiment: the k features of the main task are among those of the auxiliary task. The
    weights, pretrained or not, were multiplied by 1 (no rescaling) or less before training on the main task.

    Values (seeds,) are log₁₀ of ratios of risks.
    """
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=p.samples)
    few, many = runs.extremes("main_features")
    small = runs.where(protocol="finetuning").extremes("rescale")[0]

    risks = runs.risks("protocol", "rescale", "main_features")
    tuned, scratch = risks["finetuning"], risks["single_task"]

    def selection(rescale):
        """(seeds,) log₁₀ of the ratio of normalised risks, of many features over few: positive if few are easier. Risks
        of k features are over 1/k, the risk of predicting 0."""
        return tuned[rescale, many] - tuned[rescale, few] + np.log10(many / few)

    # Gain by rescaling with the smallest factor, on the task of few features.
    tuned_gain, scratch_gain = (networks[1.0, few] - networks[small, few] for networks in (tuned, scratch))
    return checks({
        "unrescaled": selection(1.0),
        "needs_rescaling": selection(small) - selection(1.0),
        "beyond_finetuned": scratch_gain - tuned_gain,
        "helps_scratch": scratch_gain,
        "costs_reuse": tuned[small, many] - tuned[1.0, many],
    }, few=few, many=many, small=small, samples=p.samples)  # fmt: skip


@plugins.check(data=["norms", "sparsity", "rescaled"])
def diagonal_solutions(data):
    """Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.

    Norms are those of solutions over their teachers'. Means over n are over all numbers of samples.
    """
    norms, sparsity, rescaled = (Runs(role, data[role]) for role in ("norms", "sparsity", "rescaled"))

    # Norms where all features are shared, log₁₀ of the ratio to the teacher's.
    norms = norms.where(overlap=norms.options("overlap")[-1])
    sizes = norms.options("samples", 3)
    few, most = sizes[0], sizes[-1]
    # log₁₀ of norm over teacher's norm, by seed and (protocol, samples); q is the penalty of eq 22.
    l1, l12, q = (norms.over_teacher(norm, "protocol", "samples") for norm in ("l1_norm", "l12_norm", "q_norm"))
    joint, tuned = l12["multi_task"], q["finetuning"]
    results = checks({
        "multi_task_below": joint[few],
        "finetuning_below": tuned[few],
        "scratch_not_below": np.minimum(*(norm["single_task"].max(axis=1) for norm in (q, l12))),
        "norms_converge": np.maximum(abs(joint[most]), abs(tuned[most])),
        "l1_rises": l1["single_task"][sizes].T.corrwith(pd.Series(sizes, sizes), method="spearman"),
    }, few=few, most=most)  # fmt: skip

    # Variance in the largest weights, as many as the teacher has, where tasks share no feature and where all.
    as_teacher = sparsity.where(k=only(data["sparsity"], "main_features"))
    largest = as_teacher.table("top_k_variance", "overlap", "protocol", "samples")
    disjoint, shared = (largest[overlap] for overlap in sparsity.extremes("overlap"))
    scratch = disjoint["single_task"]
    first, *between, last = scratch.columns  # numbers of samples
    results |= checks({
        "dips": np.minimum(scratch[first], scratch[last]) - scratch[between].mean(axis=1),
        "probe_dense": (scratch - disjoint["single_task_probe"]).min(axis=1),
    })  # fmt: skip
    for protocol, networks in NETWORKS.items():
        on_disjoint, on_shared = ((part[protocol] - part["single_task"]).mean(axis=1) for part in (disjoint, shared))
        results |= checks({f"{protocol}_as_sparse": on_disjoint, f"{protocol}_sparser": on_shared}, networks=networks)

    # Share of the weight on the auxiliary task's dimensions, with the fewest samples, where tasks share half of theirs.
    shares = sparsity.where(overlap=HALF).table("auxiliary_share", "protocol", "samples")
    few = shares["single_task"].columns[0]
    for protocol, networks in NETWORKS.items():
        more = shares[protocol, few] - shares["single_task", few]
        results |= checks({f"{protocol}_shares": more}, networks=networks, few=few)

    # And over all n, where they share none, with and without rescaling.
    tuned = rescaled.where(protocol="finetuning", overlap=0.0, main_features=rescaled.options("main_features")[-1])
    small = tuned.extremes("rescale")[0]
    shares = tuned.table("auxiliary_share", "rescale", "samples")
    return results | checks({"rescaling_lowers": shares[1.0].mean(axis=1) - shares[small].mean(axis=1)}, small=small)


@plugins.check(data=["diagonal", "relu"])
def cross_entropy(data):
    """Roles `diagonal` and `relu`: trajectories on cross-entropy from several initial scales. Means over seeds.

    Features are log₁₀ of their effective number. By theory a state depends on the ratio of margin and squared initial
    scale: trajectories from two scales must be nearer at equal ratios than at equal times (`alike`).
    """
    results: dict = {}

    def distance(first, second, along):
        """Distance of the features of two trajectories, data frames by `_by_seed`, at the last value of the column
        `along` (time or ratio) that both reach; NaN without one."""
        last = np.minimum(first[along].max(), second[along].max())
        features = (interpolate(curve[along], curve["features"], last) for curve in (first, second))
        return abs(np.subtract(*features))

    for role, networks in FAMILIES.items():
        runs = Runs(role, data[role])
        scales = runs.options("initial_scale", 2)
        between = min(scales, key=lambda scale: abs(np.log(scale / MOVING)))
        by_scale = [_by_seed(runs.where(initial_scale=scale).data) for scale in scales]
        values = {}
        for seed in by_scale[0]:
            curves = [by_seed[seed] for by_seed in by_scale]
            small, *_, large = curves
            middle = curves[scales.index(between)]
            end, longest, late = (curve["features"].ffill().iloc[-1] for curve in (small, large, middle))
            start = middle["features"].where(middle["ratio"].notna()).bfill().iloc[0]  # when samples are first fitted
            nearer = [distance(*pair, "time") - distance(*pair, "ratio") for pair in pairwise(curves)]
            values[seed] = {"smaller": longest - end, "longer": start - late, "alike": pd.Series(nearer).mean()}
        values = pd.DataFrame(values).T.add_prefix(f"{role}_")
        results |= checks(values, networks=networks, small=scales[0], large=scales[-1], middle=between)
    return results


def _by_seed(data):
    """{seed: trajectory} of runs from one initial scale, one a seed. A trajectory is a data frame with a row for each
    checkpoint: `features` (log₁₀ of their number), `time`, and `ratio`, margin over squared initial scale."""
    ratio = margins(data["loss_curve"].values, FITTED) / data["initial_scale"].values[:, None] ** 2
    features, times = np.log10(data["effective_features_curve"].values), data["time"].values
    return {seed: pd.DataFrame({"features": features[run], "time": times[run], "ratio": ratio[run]})
            for run, seed in enumerate(data["seed"].values)}  # fmt: skip


@plugins.check(data=["trajectory"])
def endless_training(data):
    """Role `trajectory`: PT+FT, and STL and MTL from two initial scales, on cross-entropy with all features shared.

    Statistics are means over seeds; STL is that from the smallest scale.
    """
    # Curves at either margin, in decades.
    curves = {name: np.log10(at_margins(data["trajectory"], name, [EARLY, LATE]))
              for name in ("l1_norm_curve", "group_norm_curve", "risk_curve")}  # fmt: skip
    runs = Runs("trajectory", data["trajectory"].assign(curves))
    small, large = runs.where(protocol="multi_task").extremes("initial_scale")
    scratch = runs.where(protocol="single_task", initial_scale=small)
    tuned, joint = runs.where(protocol="finetuning"), runs.where(protocol="multi_task", initial_scale=small)
    lazier = runs.where(protocol="multi_task", initial_scale=large)

    def nearer(curve, a, b):
        """By how much the distance of the curves of runs `a` and `b` falls from `EARLY` to `LATE`, by seed. The sign of
        its mean stands for the modulus, which noise of single seeds would bias upwards."""
        early, late = (a.where(margin=at).table(curve) - b.where(margin=at).table(curve) for at in (EARLY, LATE))
        return np.sign(early.mean()) * early - np.sign(late.mean()) * late

    error, tuned_error, joint_error = (r.where(margin=LATE).table("risk_curve") for r in (scratch, tuned, joint))
    return checks({
        "norm_nearer": nearer("l1_norm_curve", tuned, scratch),
        "error_nearer": nearer("risk_curve", scratch, tuned),
        "alike": error - tuned_error,
        "start_forgotten": nearer("group_norm_curve", lazier, joint),
        "shared": error - joint_error,
    }, small=small, large=large)  # fmt: skip
