"""How many features ReLU networks use, and whose they are: Fig. 6 of "Feature reuse …" as claims (B5).

A network uses K features where K clusters of its units leave next to nothing of their weight unexplained.
"""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, common_sizes, worst

AUXILIARY_FEATURES = 6  # teacher units of the auxiliary task of the role overlap


def check(data, p):
    """Roles: `clusters` of the experiments `regimes` (single-task learning), `overlap` and `nested`.

    Statistics are means over seeds of what the statements name: inertias, alignments, effective clusters, differences.
    """
    regimes, overlap, nested = (Runs(role, data[role]) for role in ("regimes", "overlap", "nested"))
    regimes, overlap = regimes.where(protocol="single_task"), overlap.where(correlation=1.0)
    nested = nested.where(main_features=min(nested.options("main_features")))
    return (
        _sparse_teacher(regimes)
        | _dense_teacher(regimes)
        | _alignment_of_shared(overlap)
        | _disjoint(overlap)
        | _unique_features(overlap)
        | _clusters_of_subset(nested)
        | _alignment_of_subset(nested)
    )


def _sparse_teacher(runs):
    few, _ = runs.extremes("main_features")
    rich, lazy = runs.where(main_features=few).regimes()
    first, *between, last = rich.sizes(3)
    left = rich.where(clusters=few).by_samples("inertia")
    found = {
        "rich_sparse": 1 - left[last],
        "lazy_not_sparse": lazy.where(clusters=few).by_samples("inertia").min(axis=1, skipna=False),
        "less_sparse_between": left[between].mean(axis=1) - np.maximum(left[first], left[last]),
        "alignment_grows": rich.per_doubling("alignment"),
    }
    return checks(found, few=few, first=first, last=last)


def _dense_teacher(runs):
    _, many = runs.extremes("main_features")
    rich, lazy = runs.where(main_features=many).regimes()
    used = lazy.by_samples("effective_clusters", 2)
    found = {
        "clusters_grow": rich.per_doubling("effective_clusters"),
        "lazy_clusters_stay": -abs(used.div(used.iloc[:, 0], axis=0) - 1).max(axis=1, skipna=False),
    }
    return checks(found, many=many)


def _alignment_of_shared(runs):
    shared = runs.where(overlap=1.0)
    groups = [shared.where(protocol=name) for name in ("single_task", "finetuning", "multi_task")]
    fewest = common_sizes(*groups)[0]
    scratch, tuned, joint = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    return checks({"finetuning_aligns": tuned - scratch, "multi_task_aligns": joint - scratch}, fewest=fewest)


def _disjoint(runs):
    features = runs.only("main_features")
    disjoint = runs.where(overlap=0.0, clusters=features)
    scratch, tuned = (disjoint.where(protocol=name).by_samples("inertia") for name in ("single_task", "finetuning"))
    return checks({"finetuning_as_sparse": worst(scratch - tuned)}, features=features)


def _unique_features(runs):
    features, runs = runs.only("main_features"), runs.where(protocol="multi_task")
    most, distances = runs.sizes()[-1], {}
    for overlap in runs.options("overlap"):
        unique = AUXILIARY_FEATURES + round((1 - overlap) * features)
        used = runs.where(clusters=unique).by_seed("effective_clusters", overlap=overlap, samples=most)
        distances[overlap] = -abs(used / unique - 1)
    return checks({"multi_task_uses_unique": worst(pd.DataFrame(distances))}, most=most)


def _clusters_of_subset(runs):
    """Inertia of as many clusters as the main task has features."""
    few = runs.only("main_features")
    subset = runs.where(overlap=1.0, clusters=few)
    finetuned = subset.where(protocol="finetuning")
    _, high = finetuned.rescalings()
    tuned, lazy = (finetuned.where(rescale=factor).by_samples("inertia") for factor in (1.0, high))
    together = subset.where(protocol="multi_task", rescale=1.0).by_samples("inertia")
    found = {
        "nested": worst(1 - tuned),
        "lazy_not_nested": worst(lazy),
        "lazy_less_nested": worst(lazy - tuned),
        "multi_task_not_nested": worst((together - tuned).dropna(axis=1, how="all")),
    }
    return checks(found, few=few, high=high)


def _alignment_of_subset(runs):
    tuned = runs.where(protocol="finetuning")
    low, _ = tuned.rescalings()
    groups = [tuned.where(rescale=rescale, overlap=overlap) for rescale in (1.0, low) for overlap in (1.0, 0.0)]
    fewest = common_sizes(*groups)[0]
    subset, new, low_subset, low_new = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    advantage = subset - new
    found = {"subset_aligns": advantage, "lost_by_rescaling": advantage / 2 - (low_subset - low_new)}
    return checks(found, few=runs.only("main_features"), low=low, fewest=fewest)
