"""How many features ReLU networks use, and whose they are: Fig. 6 of "Feature reuse …" as claims (B5).

A network uses K features where K clusters of its units leave next to nothing of their weight unexplained.
"""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.runs import Runs, common_sizes
from carryover.config.parameters import parameter

ALIGNMENT = "cosine"
NESTED = "App. E.2.3, Fig. 6f"
UNIQUE = "Fig. 6d", "relative distance, with the sign changed"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(0.1, "inertia up to which clusters explain a network", above=0, maximum=1)
    tolerance: float = parameter(0.2, "relative difference up to which an effective number of clusters is the one that "
                                 "is expected", above=0, maximum=1)  # fmt: skip
    auxiliary_features: int = parameter(6, "teacher units of the auxiliary task of the role overlap", minimum=1)


@intervals.claims("App. E.2.1, Fig. 6a", "share of weight")
def check(data, p):
    """Roles: `clusters` of the experiments `regimes` (single-task learning), `overlap` and `nested`.

    Statistics are means over seeds of what the statements name: inertias, alignments, effective clusters, differences.
    """
    regimes, overlap, nested = (Runs(role, data[role]) for role in ("regimes", "overlap", "nested"))
    overlap = overlap.where(correlation=1.0)
    nested = nested.where(main_features=min(nested.options("main_features")))
    return [
        *_sparse_teacher(regimes, p),
        _dense_teacher(regimes),
        *_alignment_of_shared(overlap),
        _disjoint(overlap, p),
        *_unique_features(overlap, p),
        *_one_cluster(nested, p),
        *_alignment_of_subset(nested),
    ]


def _sparse_teacher(runs, p):
    few, _ = runs.extremes("main_features")
    rich, lazy = runs.where(protocol="single_task", main_features=few).regimes()
    first, *between, last = rich.sizes(3)
    left = rich.where(clusters=few).by_samples("inertia")
    most = lazy.sizes()[-1]
    task, intermediate = f"a teacher of {few:g} units", ", ".join(f"{n:g}" for n in between)
    return [
        ("rich_sparse", f"{few:g} clusters explain more than {1 - p.near:g} of rich STL networks on {task}, "
         f"at n = {last:g}", 1 - left[last], 1 - p.near),
        ("lazy_not_sparse", f"{few:g} clusters leave more than {p.near:g} of lazy STL networks on {task}, "
         f"at n = {most:g}", lazy.by_seed("inertia", clusters=few, samples=most), p.near),
        ("less_sparse_between", f"{few:g} clusters leave more of rich STL networks on {task} on average over "
         f"n = {intermediate} than at n = {first:g} or at n = {last:g}",
         left[between].mean(axis=1) - np.maximum(left[first], left[last]), 0.0),
        ("alignment_grows", f"Alignment of rich STL networks with {task} grows with the doublings of n",
         rich.per_doubling("alignment"), 0.0, "App. E.2.1, Fig. 6b", ALIGNMENT),
    ]  # fmt: skip


def _dense_teacher(runs):
    _, many = runs.extremes("main_features")
    rich, _ = runs.where(protocol="single_task", main_features=many).regimes()
    statement = f"Rich STL networks on a teacher of {many:g} units use more clusters with the doublings of n"
    return "clusters_grow", statement, rich.per_doubling("effective_clusters"), 0.0, None, "clusters per doubling"


def _alignment_of_shared(runs):
    shared = runs.where(overlap=1.0)
    groups = [shared.where(protocol=name) for name in ("single_task", "finetuning", "multi_task")]
    fewest = common_sizes(*groups)[0]
    scratch, *reused = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    return [
        (f"{protocol}_aligns", f"{name} aligns better with the teacher than STL when all features are shared, "
         f"at n = {fewest:g}", aligned - scratch, 0.0, "App. E.2.2, Fig. 6e", ALIGNMENT)
        for (protocol, name), aligned in zip((("finetuning", "PT+FT"), ("multi_task", "MTL")), reused, strict=True)
    ]  # fmt: skip


def _disjoint(runs, p):
    features = runs.only("main_features")
    disjoint = runs.where(overlap=0.0)
    groups = [disjoint.where(protocol=name, clusters=features) for name in ("single_task", "finetuning")]
    most = common_sizes(*groups)[-1]
    scratch, tuned = (runs.by_seed("inertia", samples=most) for runs in groups)
    statement = (
        f"{features:g} clusters leave at most {p.near:g} more of PT+FT than of STL networks when no feature is shared, "
        f"at n = {most:g}"
    )
    return "finetuning_as_sparse", statement, scratch - tuned, -p.near, "App. E.2.2, Fig. 6c"


def _unique_features(runs, p):
    features, runs = runs.only("main_features"), runs.where(protocol="multi_task")
    most = runs.sizes()[-1]
    for overlap in runs.options("overlap"):
        unique = p.auxiliary_features + round((1 - overlap) * features)
        used = runs.where(clusters=unique).by_seed("effective_clusters", overlap=overlap, samples=most)
        statement = (
            f"MTL uses as many clusters as there are unique features, {unique}, up to {p.tolerance:g} of them, "
            f"at n = {most:g}"
        )
        yield f"multi_task_uses_{unique}", statement, -abs(used / unique - 1), -p.tolerance, *UNIQUE


def _one_cluster(runs, p):
    few = runs.only("main_features")
    subset = runs.where(overlap=1.0, clusters=few)
    finetuned = subset.where(protocol="finetuning")
    _, high = finetuned.rescalings()
    groups = [*(finetuned.where(rescale=r) for r in (1.0, high)), subset.where(protocol="multi_task", rescale=1.0)]
    most = common_sizes(*groups)[-1]
    tuned, lazy, together = (runs.by_seed("inertia", samples=most) for runs in groups)
    task = f"a task with {few:g} of the auxiliary features, at n = {most:g}"
    return [
        ("nested", f"K = {few:g} clusters explain more than {1 - p.near:g} of PT+FT networks without rescaling on "
         f"{task}", 1 - tuned, 1 - p.near, NESTED),
        ("lazy_not_nested", f"K = {few:g} clusters leave more than {p.near:g} of PT+FT networks rescaled by {high:g} "
         f"on {task}", lazy, p.near, NESTED),
        ("lazy_less_nested", f"K = {few:g} clusters leave more of PT+FT networks rescaled by {high:g} than of "
         f"unrescaled ones on {task}", lazy - tuned, 0.0, NESTED),
        ("multi_task_not_nested", f"K = {few:g} clusters leave more of MTL than of PT+FT networks on {task}",
         together - tuned, 0.0, NESTED),
    ]  # fmt: skip


def _alignment_of_subset(runs):
    few = runs.only("main_features")
    tuned = runs.where(protocol="finetuning")
    low, _ = tuned.rescalings()
    groups = [tuned.where(rescale=rescale, overlap=overlap) for rescale in (1.0, low) for overlap in (1.0, 0.0)]
    fewest = common_sizes(*groups)[0]
    subset, new, low_subset, low_new = (runs.by_seed("alignment", samples=fewest) for runs in groups)
    kept, left = subset - new, low_subset - low_new
    task = f"with {few:g} of the auxiliary features than with new ones, at n = {fewest:g}"
    return [
        ("subset_aligns", f"PT+FT without rescaling aligns better {task}", kept, 0.0, "App. E.2.3, Fig. 6g", ALIGNMENT),
        ("lost_by_rescaling", f"PT+FT rescaled by {low:g} keeps less than half of the advantage in alignment {task}",
         kept / 2 - left, 0.0, "App. E.2.3, Fig. 6g", ALIGNMENT),
    ]  # fmt: skip
