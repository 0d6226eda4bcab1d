"""Dimensions of what ReLU networks learn, and of what finetuning leaves: Fig. 8a–c of "Feature reuse …" (B7)."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, common_sizes


def check(data, p):
    """Roles: `dimensionality` of the experiments `regimes` (single-task) and `nested`. PR: participation ratio."""
    return _regimes(Runs("regimes", data["regimes"])) | _nested(Runs("nested", data["nested"]))


def _regimes(runs):
    """Smallest log₁₀ of PR lazy / PR rich over all n, by seed."""
    few = min(runs.options("main_features"))
    runs = runs.where(protocol="single_task", main_features=few)
    rich, lazy = (regime.by_samples("participation_ratio") for regime in runs.regimes())
    return checks({"rich_lower": np.log10(lazy / rich).min(axis=1, skipna=False)}, few=few)


def _nested(runs):
    """Finetuning on few of the auxiliary features: PR after over before, and what start and end share, at most n."""
    few = min(runs.options("main_features"))
    runs = runs.where(protocol="finetuning", main_features=few, overlap=1.0)
    rescaled = [runs.where(rescale=rescale) for rescale in runs.options("rescale")]
    runs, found = runs.where(samples=common_sizes(*rescaled)[-1]), {}
    low, high = runs.rescalings()
    for rescale in (low, 1.0, high):
        after = runs.by_seed("participation_ratio", rescale=rescale)
        ratio = after / runs.by_seed("participation_ratio_start", rescale=rescale)
        values = {f"kept_{rescale:g}": ratio}
        if rescale <= 1:
            shared = runs.by_seed("ensd", rescale=rescale)
            values = {f"falls_{rescale:g}": 1 - ratio, f"inherited_{rescale:g}": -abs(shared / after - 1)}
        words = "without rescaling" if rescale == 1 else f"rescaled by {rescale:g}"
        found |= checks(values, few=few, rescaled=words, samples=runs.only("samples"))
    return found
