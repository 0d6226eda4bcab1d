"""What diagonal networks learn: norms, sparsity and the share of auxiliary dimensions, Fig. 5 of "Feature reuse …"."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

OVERLAP = 0.5  # share of features in common at which sharing is looked at
NETWORKS = {"finetuning": "finetuned", "multi_task": "multi-task"}


def check(data, p):
    """Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.

    Norms are those of solutions over their teachers'. Means over n are over all numbers of samples.
    """
    norms, sparsity, rescaled = (Runs(role, data[role]) for role in ("norms", "sparsity", "rescaled"))
    return _norms(norms) | _sparsity(sparsity) | _sharing(sparsity) | _rescaling(rescaled)


def _norms(norms):
    """Norms where all features are shared."""
    runs = norms.where(overlap=norms.options("overlap")[-1])
    joint = _relative(runs.where(protocol="multi_task"), "l12_norm")
    tuned = _relative(runs.where(protocol="finetuning"), "q_norm")
    scratch = runs.where(protocol="single_task")
    few, most = joint.columns[0], joint.columns[-1]
    found = {
        "multi_task_below": -joint[few],
        "finetuning_below": -tuned[few],
        "scratch_not_below": np.minimum(*(_relative(scratch, norm).max(axis=1) for norm in ("q_norm", "l12_norm"))),
        "norms_converge": -np.maximum(abs(joint[most]), abs(tuned[most])),
        "l1_rises": _relative(scratch, "l1_norm").diff(axis=1).iloc[:, 1:].min(axis=1),
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
    runs = runs.where(overlap=OVERLAP)
    scratch = runs.where(protocol="single_task").by_samples("auxiliary_share", 3)
    few, found = scratch.columns[0], {}
    for protocol, networks in NETWORKS.items():
        share = runs.where(protocol=protocol).by_samples("auxiliary_share", 3)
        found |= checks({f"{protocol}_shares": share[few] - scratch[few]}, networks=networks, few=few)
    return found


def _rescaling(runs):
    runs = runs.where(protocol="finetuning", overlap=0.0, main_features=runs.options("main_features")[-1])
    small = runs.extremes("rescale")[0]
    plain, scaled = (
        runs.where(rescale=factor).by_samples("auxiliary_share", 3).mean(axis=1) for factor in (1.0, small)
    )
    return checks({"rescaling_lowers": plain - scaled}, small=small)


def _relative(runs, norm):
    """log₁₀ of a norm of solutions over that of their teachers, by seed (rows) and samples."""
    return np.log10(runs.by_samples(norm, 3) / runs.by_samples(f"{norm}_teacher", 3))
