"""How many features ReLU networks use, and whose they are: Fig. 6 of "Feature reuse …" as claims (B5).

A network uses K features where K clusters of its units leave next to nothing of their weight unexplained.
"""

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, common_sizes, worst

NEAR = 0.1  # inertia up to which clusters explain a network
TOLERANCE = 0.2  # relative difference up to which effective numbers of clusters count as the same
AUXILIARY_FEATURES = 6  # teacher units of the auxiliary task of the role overlap
ALIGNMENT = "cosine"
NESTED = "App. E.2.3, Fig. 6f"
UNIQUE = "Fig. 6d", "relative distance, with the sign changed"


@checks.group("App. E.2.1, Fig. 6a", "share of weight")
def check(data, p):
    """Roles: `clusters` of the experiments `regimes` (single-task learning), `overlap` and `nested`.

    Statistics are means over seeds of what the statements name: inertias, alignments, effective clusters, differences.
    """
    regimes, overlap, nested = (Runs(role, data[role]) for role in ("regimes", "overlap", "nested"))
    overlap = overlap.where(correlation=1.0)
    nested = nested.where(main_features=min(nested.options("main_features")))
    return [
        *_sparse_teacher(regimes),
        *_dense_teacher(regimes),
        *_alignment_of_shared(overlap),
        _disjoint(overlap),
        _unique_features(overlap),
        *_one_cluster(nested),
        *_alignment_of_subset(nested),
    ]


def _sparse_teacher(runs):
    few, _ = runs.extremes("main_features")
    rich, lazy = runs.where(protocol="single_task", main_features=few).regimes()
    first, *between, last = rich.sizes(3)
    left = rich.where(clusters=few).by_samples("inertia")
    task = f"a teacher of {few:g} units"
    return [
        ("rich_sparse", f"{few:g} clusters explain nearly all of networks trained from small weights on {task}, "
         f"at n = {last:g}", 1 - left[last], 1 - NEAR),
        ("lazy_not_sparse", f"{few:g} clusters do not explain networks trained from large (lazy) weights on {task}, "
         "at any n", lazy.where(clusters=few).by_samples("inertia").min(axis=1, skipna=False), NEAR),
        ("less_sparse_between", f"{few:g} clusters leave more of networks trained from small weights on {task} "
         f"unexplained for n between {first:g} and {last:g} than there",
         left[between].mean(axis=1) - np.maximum(left[first], left[last]), 0.0),
        ("alignment_grows", f"Clusters of networks trained from small weights align better with {task} as n grows",
         rich.per_doubling("alignment"), 0.0, "App. E.2.1, Fig. 6b", f"{ALIGNMENT} per doubling of n"),
    ]  # fmt: skip


def _dense_teacher(runs):
    _, many = runs.extremes("main_features")
    rich, lazy = runs.where(protocol="single_task", main_features=many).regimes()
    used = lazy.by_samples("effective_clusters", 2)
    task = f"a teacher of {many:g} units"
    return [
        ("clusters_grow", f"Networks trained from small weights on {task} use more clusters as n grows",
         rich.per_doubling("effective_clusters"), 0.0, None, "effective clusters per doubling of n"),
        ("lazy_clusters_stay", f"Networks trained from large (lazy) weights on {task} use as many clusters at every n",
         -abs(used.div(used.iloc[:, 0], axis=0) - 1).max(axis=1, skipna=False), -TOLERANCE, None,
         "largest relative change of effective clusters, with the sign changed"),
    ]  # fmt: skip


def _alignment_of_shared(runs):
    shared = runs.where(overlap=1.0)
    groups = [shared.where(protocol=name) for name in ("single_task", "finetuning", "multi_task")]
    fewest = common_sizes(*groups)[0]
    scratch, *reused = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    named = (("finetuning", "finetuned"), ("multi_task", "multi-task"))
    return [
        (f"{protocol}_aligns", f"When all features are shared, {name} networks align better with the teacher than "
         f"networks trained from scratch, at n = {fewest:g}", aligned - scratch, 0.0, "App. E.2.2, Fig. 6e", ALIGNMENT)
        for (protocol, name), aligned in zip(named, reused, strict=True)
    ]  # fmt: skip


def _disjoint(runs):
    features = runs.only("main_features")
    disjoint = runs.where(overlap=0.0, clusters=features)
    scratch, tuned = (disjoint.where(protocol=name).by_samples("inertia") for name in ("single_task", "finetuning"))
    statement = (
        f"When no feature is shared, {features:g} clusters explain nearly as much of finetuned networks as of networks "
        "trained from scratch, at every n"
    )
    return "finetuning_as_sparse", statement, worst(scratch - tuned), -NEAR, "App. E.2.2, Fig. 6c"


def _unique_features(runs):
    features, runs = runs.only("main_features"), runs.where(protocol="multi_task")
    most, distances = runs.sizes()[-1], {}
    for overlap in runs.options("overlap"):
        unique = AUXILIARY_FEATURES + round((1 - overlap) * features)
        used = runs.where(clusters=unique).by_seed("effective_clusters", overlap=overlap, samples=most)
        distances[overlap] = -abs(used / unique - 1)
    statement = (
        f"Multi-task networks use as many clusters as their two tasks have features in all, at every overlap, at n = "
        f"{most:g}"
    )
    return "multi_task_uses_unique", statement, worst(pd.DataFrame(distances)), -TOLERANCE, *UNIQUE


def _one_cluster(runs):
    few = runs.only("main_features")
    subset = runs.where(overlap=1.0, clusters=few)
    finetuned = subset.where(protocol="finetuning")
    _, high = finetuned.rescalings()
    tuned, lazy = (finetuned.where(rescale=factor).by_samples("inertia") for factor in (1.0, high))
    together = subset.where(protocol="multi_task", rescale=1.0).by_samples("inertia")
    many = f"{few:g} clusters", "explain", "leave", "do"
    clusters, explain, leave, do = ("1 cluster", "explains", "leaves", "does") if few == 1 else many
    task = f"{few:g} of the auxiliary features"
    return [
        ("nested", f"After finetuning on {task}, {clusters} {explain} nearly all of a network, without rescaling, "
         "at every n", worst(1 - tuned), 1 - NEAR, NESTED),
        ("lazy_not_nested", f"After finetuning on {task}, {clusters} {do} not explain a network "
         f"whose weights were rescaled by {high:g}, at any n", worst(lazy), NEAR, NESTED),
        ("lazy_less_nested", f"After finetuning on {task}, {clusters} {leave} more unexplained with "
         f"weights rescaled by {high:g} than without, at every n", worst(lazy - tuned), 0.0, NESTED),
        ("multi_task_not_nested", f"On {task}, {clusters} {leave} more of multi-task networks unexplained than of "
         "finetuned ones, at every n", worst((together - tuned).dropna(axis=1, how="all")), 0.0, NESTED),
    ]  # fmt: skip


def _alignment_of_subset(runs):
    few = runs.only("main_features")
    tuned = runs.where(protocol="finetuning")
    low, _ = tuned.rescalings()
    groups = [tuned.where(rescale=rescale, overlap=overlap) for rescale in (1.0, low) for overlap in (1.0, 0.0)]
    fewest = common_sizes(*groups)[0]
    subset, new, low_subset, low_new = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    kept, left = subset - new, low_subset - low_new
    task = f"{few:g} of the auxiliary features than with as many new ones"
    return [
        ("subset_aligns", f"Without rescaling, finetuned networks align better with {task}, at n = {fewest:g}",
         kept, 0.0, "App. E.2.3, Fig. 6g", ALIGNMENT),
        ("lost_by_rescaling", f"Rescaling by {low:g} costs finetuned networks at least half of that advantage in "
         f"alignment, at n = {fewest:g}", kept / 2 - left, 0.0, "App. E.2.3, Fig. 6g", ALIGNMENT),
    ]  # fmt: skip
