"""ReLU networks: their risks where tasks share features and in the rich regime, and what they have learned: features
and whose they are, dimensions, and norms (Figs. 6, 8a–c and 5a of "Feature reuse …", B2 to B5 and B7).

Statistics of risks are log₁₀ of a ratio, means over seeds. A network uses K features where K clusters of its units
leave next to nothing of their weight unexplained.

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables of `Runs` have seeds as rows and the named coordinates as columns: `risks[a, b]` is a Series over seeds.
Of risks there are two tables, `risks` and `finished`, the second with NaN where training stopped too early.
"""

from typing import Literal

import numpy as np
from pydantic import PositiveInt

from carryover.analysis.relu import AUXILIARY_FEATURES
from carryover.analysis.run_tables import Runs, common, only, worst
from carryover.claims.support.checks import checks
from carryover.config import plugins
from carryover.config.parameters import Model, parameter

BETWEEN = 256  # samples at which networks are not yet the teacher, and no longer far below its norm
NESTED = 64  # samples at which networks on nested tasks are compared
LEARNT = 0.01  # risk below which a task is learnt; the teachers' mean squares are a third to a half
LAZY = {"single_task": "those from large (lazy) weights", "single_task_kernel": "the tangent kernel"}


class ReluSharing(Model):
    samples: PositiveInt = parameter(64, "main-task samples at which protocols are compared")


@plugins.check(data=["risk"])
def relu_sharing(data, p: ReluSharing):
    """Role: `risk` of an overlap experiment. Values (seeds,) are log₁₀ ratios of risks, most at `p.samples` samples."""
    runs = Runs("risk", data["risk"])
    # `finished` has NaN where training was stopped early. It is used for the risk that is expected to be the larger
    # one, which unfinished training would raise in favour of the claim.
    risks, finished = runs.where(samples=p.samples).risks_by_completion("correlation", "protocol", "overlap")
    _, by_samples = runs.where(correlation=1.0).risks_by_completion("protocol", "overlap", "samples")
    # By overlap: what learning features gains over the kernel of the fixed pretrained features.
    learned = finished[1.0]["finetuning_kernel"] - finished[1.0]["finetuning"]

    def gain(protocol, cosine=1.0):
        """(seed,) log₁₀ of the ratio of risks, from scratch over the protocol's, where all features are shared, at a
        cosine of main and auxiliary units."""
        return finished[cosine]["single_task", 1.0] - risks[cosine][protocol, 1.0]

    results = checks({
        "finetuning_shared": gain("finetuning"),
        "multi_task_shared": gain("multi_task"),
        "multi_task_first": (by_samples["finetuning"] - by_samples["multi_task"]).mean(axis=1),
        "feature_learning_new": learned[0.5] - learned[1.0],
    })  # fmt: skip
    for overlap in learned:
        results |= checks({f"feature_learning_at_{overlap:g}": learned[overlap]}, overlap=overlap)
    for cosine in (value for value in runs.options("correlation") if 0 < value < 1):
        results |= checks({f"correlated_{cosine:g}": gain("finetuning", cosine)}, cosine=cosine)
    return checks(results, samples=p.samples)


@plugins.check(data=["risk"])
def relu_nesting(data):
    """Role: `risk` of a nested experiment.

    That PT+FT beats kernel regression on the pretrained features does not show that networks select features: as many
    samples as there are auxiliary features determine the kernel's fit, whose only error is then that of pretraining.
    But the kernel needs as many samples for one feature as for all, whereas a network that selects features needs fewer
    samples for fewer features. So the statistic compares how much network and kernel gain when the main task has few
    features.
    """
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=NESTED)
    few, many = runs.extremes("main_features")
    small, large = runs.where(protocol="finetuning").rescalings()

    risks, finished = runs.risks_by_completion("protocol", "rescale", "main_features")
    tuned, tuned_finished = risks["finetuning"], finished["finetuning"]
    reuse = finished["single_task", 1.0, few] - tuned[1.0, few]
    gain = tuned_finished[1.0, many] - tuned[1.0, few]
    kernel_gain = risks["finetuning_kernel", 1.0, many] - finished["finetuning_kernel", 1.0, few]
    return checks({
        "reuse": reuse,
        "no_rescaling_needed": reuse - (risks["single_task", small, few] - tuned_finished[small, few]),
        "selection_over_kernel": gain - kernel_gain,
        "selection_over_lazy": gain - (tuned[large, many] - tuned_finished[large, few]),
    }, few=few, many=many, small=small, large=large)  # fmt: skip


class ReluRichness(Model):
    samples: PositiveInt = parameter(256, "samples at which networks are compared")
    lazy: Literal["single_task", "single_task_kernel"] = parameter(
        "single_task", "what rich networks face: those from the largest initial scale, or the tangent kernel at the "
        "smallest")  # fmt: skip


@plugins.check(data=["risk"], optional=["norms"])
def relu_richness(data, p: ReluRichness):
    """Roles: `risk` of single-task learning, and, if wanted, its `norms`, the measure `relu_norms`.

    The rich regime helps if, and only if, the teacher is sparse; on a dense one it matches the teacher with the most
    samples (`dense_matched`, a share of the teacher's mean square).
    """
    risk = Runs("risk", data["risk"])
    runs = risk.where(samples=p.samples)
    few, many = runs.extremes("main_features")
    small, large = runs.where(protocol="single_task").extremes("initial_scale")
    rich, lazy = ("single_task", small), ("single_task", large)
    if p.lazy == "single_task_kernel":
        lazy = p.lazy, min(runs.where(protocol=p.lazy).options("initial_scale"))
    # A network that is expected to have the larger risk counts only where its training has `finished`.
    risks, finished = runs.risks_by_completion("main_features", "protocol", "initial_scale")
    results = checks({
        "sparse": finished[few][lazy] - risks[few][rich],
        "dense": finished[many][lazy] - finished[many][rich],
        "sparsity": (finished[few][lazy] - risks[few][rich]) - (risks[many][lazy] - finished[many][rich]),
    }, few=few, many=many, lazy=LAZY[p.lazy], samples=p.samples)  # fmt: skip
    if "norms" in data:
        dense = {"protocol": "single_task", "main_features": many, "initial_scale": small}
        most = risk.where(**dense).options("samples")[-1]
        dense_risk, norms = (runs.where(**dense, samples=most) for runs in (risk, Runs("norms", data["norms"])))
        unexplained = dense_risk.table("risk_final") / norms.table("l2_norm_teacher") ** 2
        results |= checks({"dense_matched": 1 - unexplained}, many=many, most=most)
    return results


@plugins.check(data=["regimes", "overlap", "nested", "overlap_risk", "nested_risk"])
def relu_clusters(data):
    """Roles: `clusters` of the experiments `regimes` (single-task learning), `overlap` and `nested`; `overlap_risk` and
    `nested_risk`, the risks of the latter.

    Inertia is that of as many clusters as the main task has features. Statistics are means over seeds. Finetuned
    networks are judged where they have learnt their task.
    """
    regimes, overlap, nested = (Runs(role, data[role]) for role in ("regimes", "overlap", "nested"))
    regimes, overlap = regimes.where(protocol="single_task"), overlap.where(correlation=1.0)

    # Single-task learning of a sparse and of a dense teacher, from small (rich) and from large (lazy) weights.
    few, many = regimes.extremes("main_features")
    rich, lazy = regimes.where(main_features=few).regimes()
    first, *between, last = rich.options("samples", 3)
    inertia, lazy_inertia = (regime.where(clusters=few).table("inertia", "samples") for regime in (rich, lazy))
    rich_dense, lazy_dense = regimes.where(main_features=many).regimes()
    clusters = lazy_dense.table("effective_clusters", "samples")
    results = checks({
        "rich_sparse": 1 - inertia[last],
        "lazy_not_sparse": lazy_inertia.min(axis=1, skipna=False),
        "less_sparse_between": inertia[between].mean(axis=1) - np.maximum(inertia[first], inertia[last]),
        "alignment_grows": rich.per_doubling("alignment"),
        "clusters_grow": rich_dense.per_doubling("effective_clusters"),
        "lazy_clusters_stay": abs(clusters.div(clusters.iloc[:, 0], axis=0) - 1).max(axis=1, skipna=False),
    }, few=few, many=many, first=first, last=last)  # fmt: skip

    # Alignment where all features are shared, inertia where none is, clusters of multi-task networks at every overlap.
    features, joint = only(overlap.data, "main_features"), overlap.where(protocol="multi_task")
    alignment = overlap.where(overlap=1.0).table("alignment", "protocol", "samples")
    scratch, tuned, together = common(*(alignment[name] for name in ("single_task", "finetuning", "multi_task")))
    fewest, most = scratch.columns[0], joint.options("samples")[-1]
    inertia = overlap.where(overlap=0.0, clusters=features).table("inertia", "protocol", "samples")
    disjoint = Runs("overlap_risk", data["overlap_risk"]).where(correlation=1.0, overlap=0.0)
    learnt = _learnt(disjoint.where(protocol="finetuning"), inertia["finetuning"], inertia["single_task"])
    # A multi-task network needs the auxiliary features and those main ones that are new, a share 1 − overlap.
    clusters = joint.where(samples=most).table("effective_clusters", "overlap")
    unique_features = AUXILIARY_FEATURES + ((1 - clusters.columns) * features).to_numpy().round()
    results |= checks({
        "finetuning_aligns": (tuned - scratch)[fewest],
        "multi_task_aligns": (together - scratch)[fewest],
        "finetuning_as_sparse": worst((inertia["finetuning"] - inertia["single_task"])[learnt], "below"),
        "multi_task_uses_unique": worst(abs(clusters / unique_features - 1), "below"),
    }, fewest=fewest, features=features, most=most, learnt=LEARNT)  # fmt: skip
    subset = {"main_features": min(nested.options("main_features"))}
    risk = Runs("nested_risk", data["nested_risk"]).where(overlap=1.0, rescale=1.0, protocol="finetuning", **subset)
    return results | _clusters_of_subset(nested.where(**subset), risk)


def _learnt(risk, *tables):
    """The numbers of samples, columns of all `tables`, by which the runs `risk` have learnt their task: the mean risk
    is at most `LEARNT`, or the smallest where none is."""
    mean = risk.table("risk_final", "samples")[common(*tables)[0].columns].mean()
    return mean.index[mean <= max(LEARNT, mean.min())]


def _clusters_of_subset(runs, risk):
    """Checks for a nested task, whose features are few of the auxiliary ones: of the inertia with as many clusters as
    it has features, small if the network uses these alone, and of the alignment with these features.

    `runs` is a `Runs` of the measure `clusters`, `risk` a `Runs` of the risks of finetuning on the same task. Inertias
    are compared at the numbers of samples at which finetuned networks have learnt the task.
    """
    few, tuned = only(runs.data, "main_features"), runs.where(protocol="finetuning")
    low, high = tuned.rescalings()
    inertia = runs.where(overlap=1.0, clusters=few).table("inertia", "protocol", "rescale", "samples")
    rich, lazy, together = inertia["finetuning", 1.0], inertia["finetuning", high], inertia["multi_task", 1.0]
    learnt = _learnt(risk, rich, lazy)
    learnt_together = _learnt(risk, rich, together.dropna(axis=1, how="all"))
    alignment = tuned.table("alignment", "rescale", "overlap", "samples")
    aligned = common(*(alignment[rescale, overlap] for rescale in (1.0, low) for overlap in (1.0, 0.0)))
    fewest = aligned[0].columns[0]
    # Alignment at the fewest samples, if the features are auxiliary ones (old) or not (new): without rescaling, and
    # rescaled by the low factor.
    old, new, low_old, low_new = (table[fewest] for table in aligned)
    return checks({
        "nested": worst(1 - rich[learnt]),
        "lazy_not_nested": worst(lazy[learnt]),
        "lazy_less_nested": worst((lazy - rich)[learnt]),
        "multi_task_not_nested": worst((together - rich)[learnt_together]),
        "subset_aligns": old - new,
        "lost_by_rescaling": (old - new) / 2 - (low_old - low_new),
    }, few=few, low=low, high=high, fewest=fewest, learnt=LEARNT)  # fmt: skip


@plugins.check(data=["regimes", "nested"])
def relu_dimensionality(data):
    """Roles: `dimensionality` of the experiments `regimes` (single-task) and `nested`. PR: participation ratio.

    Two questions: do rich networks have a smaller PR than lazy ones at every n? And, at the largest n, after finetuning
    on few of the auxiliary features: by how much has PR changed, and which share of the dimensions did the network have
    before (ENSD over PR)?
    """
    regimes, nested = (Runs(role, data[role]) for role in ("regimes", "nested"))
    few = min(regimes.options("main_features"))
    regimes = regimes.where(protocol="single_task", main_features=few).regimes()
    rich, lazy = (regime.table("participation_ratio", "samples") for regime in regimes)
    results = checks({"rich_lower": np.log10(lazy / rich).min(axis=1, skipna=False)}, few=few)

    few = min(nested.options("main_features"))
    runs = nested.where(protocol="finetuning", main_features=few, overlap=1.0)
    pr_ratio = runs.ratio("participation_ratio", "participation_ratio_start", "rescale", "samples")
    shared = runs.ratio("ensd", "participation_ratio", "rescale", "samples")
    # By definition ENSD is CKA times the geometric mean of both PR: a check of the measures.
    geometric_mean = np.sqrt(nested.data["participation_ratio"] * nested.data["participation_ratio_start"])
    identity = abs(nested.data["ensd"] / (nested.data["cka"] * geometric_mean) - 1)
    results |= checks({"ensd": identity.groupby("seed").max().to_series()})
    # The largest n that runs of every factor have.
    most = common(*(pr_ratio[rescale] for rescale in runs.options("rescale")))[0].columns[-1]
    low, high = runs.rescalings()
    for rescale, words in {low: f"rescaled by {low:g}", 1.0: "without rescaling"}.items():
        results |= checks({
            f"falls_{rescale:g}": 1 - pr_ratio[rescale, most],
            f"inherited_{rescale:g}": abs(shared[rescale, most] - 1),
        }, few=few, rescaled=words, samples=most)  # fmt: skip
    lazy = {f"kept_{high:g}": pr_ratio[high, most]}
    return results | checks(lazy, few=few, rescaled=f"rescaled by {high:g}", samples=most)


@plugins.check(data=["norms", "displacement", "regimes"])
def relu_norms(data):
    """Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning.

    The norm is F₁ from scratch, F₁,₂ of both tasks for multi-task networks, and R̃ after pretraining. Values (seeds,)
    are log₁₀ of its ratio to the teacher's norm, and of `balance` its excess over 1. A ratio above 1 shows that a
    network does not minimise the norm, since the teacher fits the same samples: it is expected at `BETWEEN` samples.
    """
    norms, tuned = (Runs(role, data[role]).where(correlation=1.0) for role in ("norms", "displacement"))
    regimes = Runs("regimes", data["regimes"])
    few, _ = regimes.extremes("main_features")
    rich, _ = regimes.where(main_features=few).regimes()
    joint = norms.where(protocol="multi_task", overlap=1.0)
    by_size = {
        "scratch": rich.over_teacher("f1_norm", "samples"),
        "multi_task": joint.over_teacher("f12_norm", "samples"),
        "finetuning": tuned.where(overlap=1.0).over_teacher("penalty", "samples"),
    }
    results: dict = {}
    for name, table in by_size.items():
        fewest = table.columns[0]
        results |= checks({f"{name}_below": table[fewest]}, few=few, fewest=fewest)
    # F₁ where the tasks share no feature, so that all features of the main task are new.
    new = norms.where(overlap=0.0, samples=BETWEEN).over_teacher("f1_norm", "protocol")
    balance, joint_balance = (runs.table("balance", "samples") for runs in (rich, joint))
    return results | checks({
        "balanced": balance.max(axis=1) - 1,
        "multi_task_balanced": joint_balance.max(axis=1) - 1,
        "scratch_above": by_size["scratch"][BETWEEN],
        "finetuning_above_scratch": new["finetuning"] - new["single_task"],
    }, few=few)  # fmt: skip
