"""Dimensions of what ReLU networks learn, and of what finetuning leaves: Fig. 8a–c of "Feature reuse …" (B7)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, common_sizes

SAMPLES = 0  # main-task samples of the nested task; 0 for the most that there are
CHANGE = 0.1  # relative change of a dimensionality from which on it counts


@checks.group("App. G, Fig. 8b–c", "relative fall of the participation ratio")
def check(data, p):
    """Roles: `dimensionality` of the experiments `regimes` (single-task) and `nested`. PR: participation ratio."""
    return [*_regimes(Runs("regimes", data["regimes"])), *_nested(Runs("nested", data["nested"]))]


def _regimes(runs):
    """Smallest log₁₀ of PR lazy / PR rich over all n, by seed."""
    few = min(runs.options("main_features"))
    runs = runs.where(protocol="single_task", main_features=few)
    rich, lazy = (regime.by_samples("participation_ratio") for regime in runs.regimes())
    statement = (
        f"Networks trained from small weights on a teacher of {few:g} units have a smaller participation ratio than "
        "those from large (lazy) weights, at every n"
    )
    return [("rich_lower", statement, np.log10(lazy / rich).min(axis=1, skipna=False), 0.0, "App. G, Fig. 8a",
             "smallest log₁₀ of a ratio of participation ratios")]  # fmt: skip


def _nested(runs):
    """Finetuning on few of the auxiliary features: PR after over before, and what start and end share."""
    few = min(runs.options("main_features"))
    runs = runs.where(protocol="finetuning", main_features=few, overlap=1.0)
    rescaled = [runs.where(rescale=rescale) for rescale in runs.options("rescale")]
    runs = runs.where(samples=SAMPLES or common_sizes(*rescaled)[-1])
    at = f"at n = {runs.only('samples'):g}"
    claims = []
    low, high = runs.rescalings()
    for rescale in (low, 1.0, high):
        after = runs.by_seed("participation_ratio", rescale=rescale)
        ratio = after / runs.by_seed("participation_ratio_start", rescale=rescale)
        task = f"{few:g} of the auxiliary features, " + (
            "without rescaling" if rescale == 1 else f"rescaled by {rescale:g}"
        )
        if rescale > 1:
            claims.append(
                (f"kept_{rescale:g}", f"The participation ratio does not fall in finetuning on {task}, {at}",
                 ratio, 1 - CHANGE, None, "participation ratio after finetuning over that before")
            )  # fmt: skip
            continue
        shared = runs.by_seed("ensd", rescale=rescale)
        claims += [
            (f"falls_{rescale:g}", f"The participation ratio falls in finetuning on {task}, {at}", 1 - ratio, CHANGE),
            (f"inherited_{rescale:g}", "Networks before and after finetuning share as many dimensions (ENSD) as those "
             f"after have, on {task}, {at}", -abs(shared / after - 1), -CHANGE, None,
             "relative distance of ENSD from the participation ratio after, with the sign changed"),
        ]  # fmt: skip
    return claims
