"""Risks of ReLU networks: shared and correlated features, subsets of them, and the rich regime ("Feature reuse …", B2
and B3).

Statistics are log₁₀ of a ratio of risks, means over seeds.
"""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

NESTED = 64  # samples at which networks on nested tasks are compared
GAIN = 1.25  # factor on the risk that is no gain yet
LAZY = {"single_task": "those from large (lazy) weights", "single_task_kernel": "the tangent kernel"}


def relu_sharing(data, p):
    """Role: `risk` of an overlap experiment."""
    every = Runs("risk", data["risk"])
    identical, here = every.where(correlation=1.0), every.where(samples=p.samples)

    def risks(cosine):
        """Of all networks, and of those whose training is done, by protocol and overlap, at one number of samples."""
        runs = here.where(correlation=cosine)
        return (runs.risks("protocol", "overlap", trained=trained) for trained in (False, True))

    # Training from scratch must have come to its end where it is expected to be worse; likewise below.
    plain, done = risks(1.0)
    overall = identical.risks("protocol", "overlap", "samples", trained=True)
    learned = done["finetuning_kernel"] - done["finetuning"]
    found = checks({
        "finetuning_shared": done["single_task", 1.0] - plain["finetuning", 1.0],
        "multi_task_shared": done["single_task", 1.0] - plain["multi_task", 1.0],
        "multi_task_first": (overall["finetuning"] - overall["multi_task"]).mean(axis=1),
        "feature_learning": learned.mean(axis=1, skipna=False),
        "feature_learning_new": learned[0.5] - learned[1.0],
    })  # fmt: skip
    for cosine in (value for value in every.options("correlation") if 0 < value < 1):
        plain, done = risks(cosine)
        gain = done["single_task", 1.0] - plain["finetuning", 1.0]
        found |= checks({f"correlated_{cosine:g}": gain}, cosine=cosine)
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

    plain, done = (runs.risks("protocol", "rescale", "main_features", trained=trained) for trained in (False, True))
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
    rich, lazy = runs.where(protocol="single_task").regimes()
    if p.lazy == "single_task_kernel":
        kernels = runs.where(protocol=p.lazy)
        lazy = kernels.where(initial_scale=min(kernels.options("initial_scale")))

    def gain(count, *trained):
        """log₁₀ of lazy over rich; `trained` names those whose training must be done."""
        over = lazy.risk("lazy" in trained, main_features=count)
        return over - rich.risk("rich" in trained, main_features=count)

    found = {
        "sparse": gain(few, "lazy"),
        "dense": np.log10(GAIN) - gain(many, "lazy", "rich"),
        "sparsity": gain(few, "lazy") - gain(many, "rich"),
    }
    found = checks(found, few=few, many=many, lazy=LAZY[p.lazy], samples=p.samples)
    if "norms" in data:
        risk, norms = (one.where(protocol="single_task", main_features=many).regimes()[0]
                       for one in (every, Runs("norms", data["norms"])))  # fmt: skip
        most = risk.sizes()[-1]
        unexplained = risk.by_seed("risk_final", samples=most) / norms.by_seed("l2_norm_teacher", samples=most) ** 2
        found |= checks({"dense_matched": 1 - unexplained}, many=many, most=most)
    return found
