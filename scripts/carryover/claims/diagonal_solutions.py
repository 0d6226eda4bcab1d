"""What diagonal networks learn: norms, sparsity and the share of auxiliary dimensions, Fig. 5 of "Feature reuse …"."""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter

SHARES = "share of the weight norm"
VARIANCE = "share of variance in as many weights as the teacher has"


@dataclass(frozen=True, kw_only=True)
class Parameters:
    same: float = parameter(0.02, "decades by which norms may differ that count as the same", above=0)
    as_sparse: float = parameter(0.05, "share of variance by which solutions may differ that count as equally sparse",
                                 above=0, maximum=1)  # fmt: skip
    overlap: float = parameter(0.5, "share of features in common at which sharing is looked at", minimum=0, maximum=1)


@intervals.claims("App. E.1, Fig. 5a", "log₁₀ of a ratio of norms")
def check(data, p):
    """Roles: `norms` and `sparsity` of the overlap experiment, `rescaled` sparsity of the nested one.

    Norms are those of solutions over their teachers'. Means over n are over all numbers of samples.
    """
    norms, sparsity, rescaled = (Runs(role, data[role]) for role in ("norms", "sparsity", "rescaled"))
    return [*_norms(norms, p), *_sparsity(sparsity, p), *_sharing(sparsity, p), _rescaling(rescaled)]


def _norms(norms, p):
    """Norms where all features are shared."""
    runs = norms.where(overlap=norms.options("overlap")[-1])
    own = {"multi_task": "l12_norm", "finetuning": "q_norm"}
    joint, tuned = (_relative(runs.where(protocol=protocol), norm) for protocol, norm in own.items())
    scratch = runs.where(protocol="single_task")
    steps = _relative(scratch, "l1_norm").diff(axis=1).iloc[:, 1:]
    few, most = joint.columns[0], joint.columns[-1]
    return [
        ("multi_task_below", f"The ℓ1,2 norm of MTL is below ground truth at n = {few:g}", -joint[few], 0.0),
        ("finetuning_below", f"The Q penalty of PT+FT is below ground truth at n = {few:g}", -tuned[few], 0.0),
        ("scratch_not_below", "The Q penalty of STL exceeds ground truth at some n",
         _relative(scratch, "q_norm").max(axis=1), 0.0),
        ("norms_converge", f"At n = {most:g} the ℓ1,2 norm of MTL and the Q penalty of PT+FT are within {p.same:g} "
         "decades of ground truth", -np.maximum(abs(joint[most]), abs(tuned[most])), -p.same, None,
         "largest log₁₀ of a ratio, with the sign changed"),
        ("l1_rises", f"The ℓ1 norm of STL falls by no more than {p.same:g} decades from any n to the next",
         steps.min(axis=1), -p.same, "App. E.1, Fig. 5d"),
    ]  # fmt: skip


def _sparsity(runs, p):
    """Variance in the largest weights, as many as the teacher has."""
    features = runs.only("main_features")
    runs = Runs("sparsity", runs.data.sel(k=features))
    disjoint, shared = (runs.where(overlap=overlap) for overlap in runs.extremes("overlap"))
    protocols = ("single_task", "single_task_probe")
    scratch, probe = (disjoint.where(protocol=name).by_samples("top_k_variance", 3) for name in protocols)
    first, *between, last = scratch.columns
    claims = [
        ("dips", "The sparsity of STL is less on average over the n between than at the smallest and at the largest",
         np.minimum(scratch[first], scratch[last]) - scratch[between].mean(axis=1), 0.0, "App. E.1, Fig. 5c", VARIANCE),
        ("probe_dense", "STL is sparser than its linear probe at every n", (scratch - probe).min(axis=1), 0.0,
         "App. E.1, Fig. 5c", VARIANCE),
    ]  # fmt: skip
    for protocol, name in (("finetuning", "PT+FT"), ("multi_task", "MTL")):
        apart, same = (_sparser(part, protocol) for part in (disjoint, shared))
        claims += [
            (f"{protocol}_as_sparse", f"{name} is as sparse as STL, up to {p.as_sparse:g}, when no feature is shared, "
             "on the mean over n", apart, -p.as_sparse, "App. E.1, Fig. 5e", VARIANCE),
            (f"{protocol}_sparser", f"{name} is sparser than STL when all features are shared, on the mean over n",
             same, 0.0, "App. E.1, Fig. 5e", VARIANCE),
        ]  # fmt: skip
    return claims


def _sharing(runs, p):
    runs = runs.where(overlap=p.overlap)
    share = {name: runs.where(protocol=name).by_samples("auxiliary_share", 3)
             for name in ("single_task", "finetuning", "multi_task")}  # fmt: skip
    scratch = share.pop("single_task")
    few = scratch.columns[0]
    for protocol, name in (("finetuning", "PT+FT"), ("multi_task", "MTL")):
        statement = f"At overlap {p.overlap:g} and n = {few:g} {name} has more weight in auxiliary dimensions than STL"
        yield f"{protocol}_shares", statement, share[protocol][few] - scratch[few], 0.0, "App. E.1, Fig. 5f", SHARES


def _rescaling(runs):
    runs = runs.where(protocol="finetuning", overlap=0.0, main_features=runs.options("main_features")[-1])
    small = runs.extremes("rescale")[0]
    plain, scaled = (
        runs.where(rescale=factor).by_samples("auxiliary_share", 3).mean(axis=1) for factor in (1.0, small)
    )
    statement = f"Rescaling by {small:g} lowers the auxiliary dimensions' share of PT+FT on new features (mean over n)"
    return "rescaling_lowers", statement, plain - scaled, 0.0, "App. E.1, Fig. 5b", SHARES


def _relative(runs, norm):
    """log₁₀ of a norm of solutions over that of their teachers, by seed (rows) and samples."""
    return np.log10(runs.by_samples(norm, 3) / runs.by_samples(f"{norm}_teacher", 3))


def _sparser(runs, protocol):
    tuned, scratch = (runs.where(protocol=name).by_samples("top_k_variance", 3) for name in (protocol, "single_task"))
    return (tuned - scratch).mean(axis=1)
