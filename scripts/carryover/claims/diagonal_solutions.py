"""What diagonal networks learn: norms, sparsity and the share of auxiliary dimensions, Fig. 5 of "Feature reuse …"."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs

SAME = 0.02  # decades by which norms may differ that count as the same
AS_SPARSE = 0.05  # share of variance by which solutions may differ that count as equally sparse
OVERLAP = 0.5  # share of features in common at which sharing is looked at
SHARES = "share of the weight norm"
VARIANCE = "share of variance in as many weights as the teacher has"
NAMES = {"finetuning": "finetuned", "multi_task": "multi-task"}


@checks.group("App. E.1, Fig. 5a", "log₁₀ of a ratio of norms")
def check(data, p):
    """Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.

    Norms are those of solutions over their teachers'. Means over n are over all numbers of samples.
    """
    norms, sparsity, rescaled = (Runs(role, data[role]) for role in ("norms", "sparsity", "rescaled"))
    return [*_norms(norms), *_sparsity(sparsity), *_sharing(sparsity), _rescaling(rescaled)]


def _norms(norms):
    """Norms where all features are shared."""
    runs = norms.where(overlap=norms.options("overlap")[-1])
    own = {"multi_task": "l12_norm", "finetuning": "q_norm"}
    joint, tuned = (_relative(runs.where(protocol=protocol), norm) for protocol, norm in own.items())
    scratch = runs.where(protocol="single_task")
    steps = _relative(scratch, "l1_norm").diff(axis=1).iloc[:, 1:]
    few, most = joint.columns[0], joint.columns[-1]
    return [
        ("multi_task_below", f"At n = {few:g}, multi-task networks find solutions with an ℓ1,2 norm below that of the "
         "true one", -joint[few], 0.0),
        ("finetuning_below", f"At n = {few:g}, finetuned networks find solutions with a Q penalty below that of the "
         "true one", -tuned[few], 0.0),
        ("scratch_not_below", "Networks trained from scratch exceed the Q penalty and the ℓ1,2 norm of the true "
         "solution, each at some number of samples",
         np.minimum(*(_relative(scratch, norm).max(axis=1) for norm in ("q_norm", "l12_norm"))), 0.0),
        ("norms_converge", "With many samples, the ℓ1,2 norm of multi-task networks and the Q penalty of finetuned "
         "networks are those of the true solution", -np.maximum(abs(joint[most]), abs(tuned[most])), -SAME, None,
         f"larger distance of the two at n = {most:g}, in log₁₀ of a ratio, with the sign changed"),
        ("l1_rises", "The ℓ1 norm of networks trained from scratch rises with the number of samples",
         steps.min(axis=1), -SAME, "App. E.1, Fig. 5d", "least log₁₀ of a ratio from one n to the next"),
    ]  # fmt: skip


def _sparsity(runs):
    """Variance in the largest weights, as many as the teacher has."""
    features = runs.only("main_features")
    runs = Runs("sparsity", runs.data.sel(k=features))
    disjoint, shared = (runs.where(overlap=overlap) for overlap in runs.extremes("overlap"))
    protocols = ("single_task", "single_task_probe")
    scratch, probe = (disjoint.where(protocol=name).by_samples("top_k_variance", 3) for name in protocols)
    first, *between, last = scratch.columns
    claims = [
        ("dips", "Networks trained from scratch are less sparse for intermediate numbers of samples than for few and "
         "for many",
         np.minimum(scratch[first], scratch[last]) - scratch[between].mean(axis=1), 0.0, "App. E.1, Fig. 5c", VARIANCE),
        ("probe_dense", "Networks trained from scratch are sparser than those whose readout alone is trained, for any "
         "number of samples", (scratch - probe).min(axis=1), 0.0,
         "App. E.1, Fig. 5c", VARIANCE),
    ]  # fmt: skip
    for protocol, name in NAMES.items():
        apart, same = (_sparser(part, protocol) for part in (disjoint, shared))
        claims += [
            (f"{protocol}_as_sparse", f"When no feature is shared, {name} networks are as sparse as networks trained "
             "from scratch", apart, -AS_SPARSE, "App. E.1, Fig. 5e", f"{VARIANCE}, mean over n"),
            (f"{protocol}_sparser", f"When all features are shared, {name} networks are sparser than networks trained "
             "from scratch", same, 0.0, "App. E.1, Fig. 5e", f"{VARIANCE}, mean over n"),
        ]  # fmt: skip
    return claims


def _sharing(runs):
    runs = runs.where(overlap=OVERLAP)
    share = {name: runs.where(protocol=name).by_samples("auxiliary_share", 3)
             for name in ("single_task", "finetuning", "multi_task")}  # fmt: skip
    scratch = share.pop("single_task")
    few = scratch.columns[0]
    for protocol, name in NAMES.items():
        statement = (
            f"At n = {few:g}, {name} networks put more weight into the auxiliary task's dimensions than networks "
            "trained from scratch"
        )
        yield f"{protocol}_shares", statement, share[protocol][few] - scratch[few], 0.0, "App. E.1, Fig. 5f", SHARES


def _rescaling(runs):
    runs = runs.where(protocol="finetuning", overlap=0.0, main_features=runs.options("main_features")[-1])
    small = runs.extremes("rescale")[0]
    plain, scaled = (
        runs.where(rescale=factor).by_samples("auxiliary_share", 3).mean(axis=1) for factor in (1.0, small)
    )
    statement = f"Rescaling by {small:g} before finetuning lowers the share of weight in the auxiliary dimensions"
    return "rescaling_lowers", statement, plain - scaled, 0.0, "App. E.1, Fig. 5b", f"{SHARES}, mean over n"


def _relative(runs, norm):
    """log₁₀ of a norm of solutions over that of their teachers, by seed (rows) and samples."""
    return np.log10(runs.by_samples(norm, 3) / runs.by_samples(f"{norm}_teacher", 3))


def _sparser(runs, protocol):
    tuned, scratch = (runs.where(protocol=name).by_samples("top_k_variance", 3) for name in (protocol, "single_task"))
    return (tuned - scratch).mean(axis=1)
