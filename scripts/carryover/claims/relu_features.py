"""ReLU networks: their risks where tasks share features and in the rich regime, and what they have learned: features
and whose they are, dimensions, and norms (Figs. 6, 8a–c and 5a of "Feature reuse …", B2 to B5 and B7).

Statistics of risks are log₁₀ of a ratio, means over seeds. A network uses K features where K clusters of its units
leave next to nothing of their weight unexplained.
"""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, common, worst

AUXILIARY_FEATURES = 6  # teacher units of the auxiliary task of the role overlap
BETWEEN = 256  # samples at which networks are not yet the teacher, and no longer far below its norm
NESTED = 64  # samples at which networks on nested tasks are compared
GAIN = 1.25  # factor on the risk that is no gain yet
LAZY = {"single_task": "those from large (lazy) weights", "single_task_kernel": "the tangent kernel"}


def relu_sharing(data, p):
    """Role: `risk` of an overlap experiment."""
    every = Runs("risk", data["risk"])
    here = every.where(samples=p.samples)
    # Training must have come to its end where a risk is expected to be the larger one; likewise below.
    plain, done = here.risks_and_done("correlation", "protocol", "overlap")
    _, overall = every.where(correlation=1.0).risks_and_done("protocol", "overlap", "samples")
    learned = done[1.0]["finetuning_kernel"] - done[1.0]["finetuning"]

    def gain(protocol, cosine=1.0):
        """Over training from scratch, where all features are shared."""
        return done[cosine]["single_task", 1.0] - plain[cosine][protocol, 1.0]

    found = checks({
        "finetuning_shared": gain("finetuning"),
        "multi_task_shared": gain("multi_task"),
        "multi_task_first": (overall["finetuning"] - overall["multi_task"]).mean(axis=1),
        "feature_learning": learned.mean(axis=1, skipna=False),
        "feature_learning_new": learned[0.5] - learned[1.0],
    })  # fmt: skip
    for cosine in (value for value in every.options("correlation") if 0 < value < 1):
        found |= checks({f"correlated_{cosine:g}": gain("finetuning", cosine)}, cosine=cosine)
    return checks(found, samples=p.samples)


def relu_nesting(data, p):
    """Role: `risk` of a nested experiment.

    That networks select features cannot be seen from PT+FT beating fits of the pretrained features: no more samples
    than there are auxiliary features determine those fits, and these then have nothing left but the error of
    pretraining. But such a fit needs as many samples for one feature as for all, whereas a network that selects
    features needs fewer for fewer. So the statistic is how much more it gains from the main task's having few features
    than the fit does.
    """
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=NESTED)
    few, many = runs.extremes("main_features")
    small, large = runs.where(protocol="finetuning").rescalings()

    plain, done = runs.risks_and_done("protocol", "rescale", "main_features")
    tuned, tuned_done = plain["finetuning"], done["finetuning"]
    reuse = done["single_task", 1.0, few] - tuned[1.0, few]
    gain = tuned_done[1.0, many] - tuned[1.0, few]
    kernel = plain["finetuning_kernel", 1.0, many] - done["finetuning_kernel", 1.0, few]
    found = {
        "reuse": reuse,
        "no_rescaling_needed": reuse - (plain["single_task", small, few] - tuned_done[small, few]),
        "selection_over_kernel": gain - kernel,
        "selection_over_lazy": gain - (tuned[large, many] - tuned_done[large, few]),
    }
    return checks(found, few=few, many=many, small=small, large=large)


def relu_richness(data, p):
    """Roles: `risk` of single-task learning, and, if wanted, its `norms`, the measure `relu_norms`.

    The rich regime helps if, and only if, the teacher is sparse; on a dense one it matches the teacher with the most
    samples (`dense_matched`, a share of the teacher's mean square).
    """
    every = Runs("risk", data["risk"])
    runs = every.where(samples=p.samples)
    few, many = runs.extremes("main_features")
    small, large = runs.where(protocol="single_task").extremes("initial_scale")
    rich, lazy = ("single_task", small), ("single_task", large)
    if p.lazy == "single_task_kernel":
        lazy = p.lazy, min(runs.where(protocol=p.lazy).options("initial_scale"))
    plain, done = runs.risks_and_done("main_features", "protocol", "initial_scale")
    found = {
        "sparse": done[few][lazy] - plain[few][rich],
        "dense": np.log10(GAIN) - (done[many][lazy] - done[many][rich]),
        "sparsity": (done[few][lazy] - plain[few][rich]) - (plain[many][lazy] - done[many][rich]),
    }
    found = checks(found, few=few, many=many, lazy=LAZY[p.lazy], samples=p.samples)
    if "norms" in data:
        dense = {"protocol": "single_task", "main_features": many, "initial_scale": small}
        most = every.where(**dense).sizes()[-1]
        risk, norms = (one.where(**dense, samples=most) for one in (every, Runs("norms", data["norms"])))
        unexplained = risk.table("risk_final") / norms.table("l2_norm_teacher") ** 2
        found |= checks({"dense_matched": 1 - unexplained}, many=many, most=most)
    return found


def relu_clusters(data, p):
    """Roles: `clusters` of the experiments `regimes` (single-task learning), `overlap` and `nested`.

    Statistics are means over seeds of what the statements name: inertias, alignments, effective clusters, differences.
    """
    regimes, overlap, nested = (Runs(role, data[role]) for role in ("regimes", "overlap", "nested"))
    regimes, overlap = regimes.where(protocol="single_task"), overlap.where(correlation=1.0)

    # On a sparse and on a dense teacher, from small and from large weights.
    few, many = regimes.extremes("main_features")
    rich, lazy = regimes.where(main_features=few).regimes()
    first, *between, last = rich.sizes(3)
    left, left_lazy = (some.where(clusters=few).table("inertia", "samples") for some in (rich, lazy))
    rich_dense, lazy_dense = regimes.where(main_features=many).regimes()
    used = lazy_dense.table("effective_clusters", "samples")
    found = checks({
        "rich_sparse": 1 - left[last],
        "lazy_not_sparse": left_lazy.min(axis=1, skipna=False),
        "less_sparse_between": left[between].mean(axis=1) - np.maximum(left[first], left[last]),
        "alignment_grows": rich.per_doubling("alignment"),
        "clusters_grow": rich_dense.per_doubling("effective_clusters"),
        "lazy_clusters_stay": -abs(used.div(used.iloc[:, 0], axis=0) - 1).max(axis=1, skipna=False),
    }, few=few, many=many, first=first, last=last)  # fmt: skip

    # Where features are shared, where none is, and of multi-task networks at every overlap.
    features, joint = overlap.only("main_features"), overlap.where(protocol="multi_task")
    alignment = overlap.where(overlap=1.0).table("alignment", "protocol", "samples")
    scratch, tuned, together = common(*(alignment[name] for name in ("single_task", "finetuning", "multi_task")))
    fewest, most = scratch.columns[0], joint.sizes()[-1]
    left = overlap.where(overlap=0.0, clusters=features).table("inertia", "protocol", "samples")
    used = joint.where(samples=most).table("effective_clusters", "overlap")
    unique = AUXILIARY_FEATURES + ((1 - used.columns) * features).to_numpy().round()
    found |= checks({
        "finetuning_aligns": (tuned - scratch)[fewest],
        "multi_task_aligns": (together - scratch)[fewest],
        "finetuning_as_sparse": worst(left["single_task"] - left["finetuning"]),
        "multi_task_uses_unique": worst(-abs(used / unique - 1)),
    }, fewest=fewest, features=features, most=most)  # fmt: skip
    return found | _clusters_of_subset(nested.where(main_features=min(nested.options("main_features"))))


def _clusters_of_subset(runs):
    """Inertia of as many clusters as the main task has features, and alignment with these."""
    few, tuned = runs.only("main_features"), runs.where(protocol="finetuning")
    low, high = tuned.rescalings()
    inertia = runs.where(overlap=1.0, clusters=few).table("inertia", "protocol", "rescale", "samples")
    left, lazy, together = inertia["finetuning", 1.0], inertia["finetuning", high], inertia["multi_task", 1.0]
    alignment = tuned.table("alignment", "rescale", "overlap", "samples")
    aligned = common(*(alignment[rescale, overlap] for rescale in (1.0, low) for overlap in (1.0, 0.0)))
    fewest = aligned[0].columns[0]
    old, new, low_old, low_new = (table[fewest] for table in aligned)
    found = {
        "nested": worst(1 - left),
        "lazy_not_nested": worst(lazy),
        "lazy_less_nested": worst(lazy - left),
        "multi_task_not_nested": worst((together - left).dropna(axis=1, how="all")),
        "subset_aligns": old - new,
        "lost_by_rescaling": (old - new) / 2 - (low_old - low_new),
    }
    return checks(found, few=few, low=low, high=high, fewest=fewest)


def relu_dimensionality(data, p):
    """Roles: `dimensionality` of the experiments `regimes` (single-task) and `nested`. PR: participation ratio.

    Rich networks have the smaller PR at every n; finetuning on few of the auxiliary features changes PR from before to
    after, at the most n, and start and end share dimensions.
    """
    regimes, nested = (Runs(role, data[role]) for role in ("regimes", "nested"))
    few = min(regimes.options("main_features"))
    regimes = regimes.where(protocol="single_task", main_features=few).regimes()
    rich, lazy = (regime.table("participation_ratio", "samples") for regime in regimes)
    found = checks({"rich_lower": np.log10(lazy / rich).min(axis=1, skipna=False)}, few=few)

    few = min(nested.options("main_features"))
    runs = nested.where(protocol="finetuning", main_features=few, overlap=1.0)
    kept = runs.ratio("participation_ratio", "participation_ratio_start", "rescale", "samples")
    shared = runs.ratio("ensd", "participation_ratio", "rescale", "samples")
    most = common(*(kept[rescale] for rescale in runs.options("rescale")))[0].columns[-1]
    low, high = runs.rescalings()
    for rescale, words in {low: f"rescaled by {low:g}", 1.0: "without rescaling"}.items():
        values = {
            f"falls_{rescale:g}": 1 - kept[rescale, most],
            f"inherited_{rescale:g}": -abs(shared[rescale, most] - 1),
        }
        found |= checks(values, few=few, rescaled=words, samples=most)
    lazy = {f"kept_{high:g}": kept[high, most]}
    return found | checks(lazy, few=few, rescaled=f"rescaled by {high:g}", samples=most)


def relu_norms(data, p):
    """Roles: `norms` and `displacement` of an overlap experiment, `regimes`: norms of single-task learning.

    Each protocol has a norm of its own: F₁ from scratch, F₁,₂ of both tasks together, R̃ after pretraining. Solutions at
    `BETWEEN` samples are no minimum of the norm: the teacher has less, and fits the same samples.
    """
    norms, tuned = (Runs(role, data[role]).where(correlation=1.0) for role in ("norms", "displacement"))
    regimes = Runs("regimes", data["regimes"])
    few, _ = regimes.extremes("main_features")
    rich, _ = regimes.where(main_features=few).regimes()
    by_size = {
        "scratch": rich.over_teacher("f1_norm", "samples"),
        "multi_task": norms.where(protocol="multi_task", overlap=1.0).over_teacher("f12_norm", "samples"),
        "finetuning": tuned.where(overlap=1.0).over_teacher("penalty", "samples"),
    }
    found = {}
    for name, table in by_size.items():
        fewest = table.columns[0]
        found |= checks({f"{name}_below": -table[fewest]}, few=few, fewest=fewest)
    new = norms.where(overlap=0.0, samples=BETWEEN).over_teacher("f1_norm", "protocol")
    above = {
        "scratch_above": by_size["scratch"][BETWEEN],
        "finetuning_above_scratch": new["finetuning"] - new["single_task"],
    }
    return found | checks(above, few=few)
