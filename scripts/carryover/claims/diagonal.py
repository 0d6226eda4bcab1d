"""Diagonal linear networks: risks, and what is learned (Figs. 1 and 5 of "Feature reuse …").

Statistics of risks are log₁₀ of a ratio. "The implicit penalty", 1.2, has the claims on nested tasks: only rescaled
networks select few of the auxiliary features, and they pay for it where all are needed.
"""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

HALF = 0.5  # share of features in common at which sharing is looked at
NETWORKS = {"finetuning": "finetuned", "multi_task": "multi-task"}


def feature_reuse(data, p):
    """Role: `risk` of the overlap experiment."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    every = runs.extremes("overlap")[1]

    risks = runs.risks("protocol", "overlap")
    found = {
        "finetuning_shared": risks["single_task", every] - risks["finetuning", every],
        "multi_task_shared": risks["single_task", every] - risks["multi_task", every],
        "probe_insufficient": risks["finetuning_probe", HALF] - risks["finetuning", HALF],
        "multi_task_first": (risks["finetuning"] - risks["multi_task"]).mean(axis=1),
    }
    return checks(found, samples=p.samples)


def diagonal_nesting(data, p):
    """Role: `risk` of a nested experiment, rescaled by 1 and by less."""
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=p.samples)
    few, many = runs.extremes("main_features")
    small = runs.where(protocol="finetuning").extremes("rescale")[0]

    risks = runs.risks("protocol", "rescale", "main_features")
    tuned, alone = risks["finetuning"], risks["single_task"]

    def selected(rescale):
        """How much better few features are learned than all, over the risk of predicting nothing: 1/k of k features."""
        return tuned[rescale, many] - tuned[rescale, few] + np.log10(many / few)

    gained, helped = (networks[1.0, few] - networks[small, few] for networks in (tuned, alone))
    found = {
        "unrescaled": -selected(1.0),
        "needs_rescaling": selected(small) - selected(1.0),
        "beyond_scratch": gained - helped,
        "helps_scratch": helped,
        "costs_reuse": tuned[small, many] - tuned[1.0, many],
    }
    return checks(found, few=few, many=many, small=small, samples=p.samples)


def diagonal_solutions(data, p):
    """Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.

    Norms are those of solutions over their teachers'. Means over n are over all numbers of samples.
    """
    sparsity = Runs("sparsity", data["sparsity"])
    found = _norms(Runs("norms", data["norms"])) | _sparsity(sparsity) | _sharing(sparsity.where(overlap=HALF))
    return found | _rescaling(Runs("rescaled", data["rescaled"]))


def _norms(runs):
    """Norms where all features are shared, log₁₀ of the ratio to the teacher's."""
    runs = runs.where(overlap=runs.options("overlap")[-1])

    def relative(protocol, norm):
        some = runs.where(protocol=protocol)
        return np.log10(some.by_samples(norm, 3) / some.by_samples(f"{norm}_teacher", 3))

    joint, tuned = relative("multi_task", "l12_norm"), relative("finetuning", "q_norm")
    few, most = joint.columns[0], joint.columns[-1]
    found = {
        "multi_task_below": -joint[few],
        "finetuning_below": -tuned[few],
        "scratch_not_below": np.minimum(*(relative("single_task", n).max(axis=1) for n in ("q_norm", "l12_norm"))),
        "norms_converge": -np.maximum(abs(joint[most]), abs(tuned[most])),
        "l1_rises": relative("single_task", "l1_norm").diff(axis=1).iloc[:, 1:].min(axis=1),
    }
    return checks(found, few=few, most=most)


def _sparsity(runs):
    """Variance in the largest weights, as many as the teacher has."""
    runs = Runs("sparsity", runs.data.sel(k=runs.only("main_features")))
    disjoint, shared = (runs.where(overlap=overlap) for overlap in runs.extremes("overlap"))

    def variance(runs, protocol):
        return runs.where(protocol=protocol).by_samples("top_k_variance", 3)

    scratch = variance(disjoint, "single_task")
    first, *between, last = scratch.columns
    found = checks({
        "dips": np.minimum(scratch[first], scratch[last]) - scratch[between].mean(axis=1),
        "probe_dense": (scratch - variance(disjoint, "single_task_probe")).min(axis=1),
    })  # fmt: skip
    for protocol, networks in NETWORKS.items():
        apart, same = ((variance(part, protocol) - variance(part, "single_task")).mean(axis=1)
                       for part in (disjoint, shared))  # fmt: skip
        found |= checks({f"{protocol}_as_sparse": apart, f"{protocol}_sparser": same}, networks=networks)
    return found


def _sharing(runs):
    """Weight on the auxiliary task's dimensions with the fewest samples."""
    few = runs.where(protocol="single_task").sizes(3)[0]
    shares = runs.where(samples=few).table("auxiliary_share", "protocol")
    found = {}
    for protocol, networks in NETWORKS.items():
        found |= checks({f"{protocol}_shares": shares[protocol] - shares["single_task"]}, networks=networks, few=few)
    return found


def _rescaling(runs):
    """The same over all n, where no feature is shared, with and without rescaling."""
    runs = runs.where(protocol="finetuning", overlap=0.0, main_features=runs.options("main_features")[-1])
    small = runs.extremes("rescale")[0]
    plain, scaled = (
        runs.where(rescale=factor).by_samples("auxiliary_share", 3).mean(axis=1) for factor in (1.0, small)
    )
    return checks({"rescaling_lowers": plain - scaled}, small=small)
