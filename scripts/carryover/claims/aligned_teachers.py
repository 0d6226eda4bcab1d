"""What depth is worth where the target is the source, scaled: theorem 5.3 of "Finetuning with linear teachers"."""

from itertools import product

import numpy as np
import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs


def check(data, p):
    """Role `risk`: exact limits of finetuned networks, without noise, of one layer and more, for tasks at angle 0.
    Every statistic is that of the samples and the target's norm at which it is worst, as a mean over seeds.

    No depth shows that the risk goes to 0; claimed is that between the two deepest it still falls as a power of depth.
    """
    tuned = Runs("risk", data["risk"]).where(angle=0.0, noise=0.0, solver="exact", protocol="finetuning")
    *_, before, deepest = tuned.options("depth")
    tasks = list(product(tuned.sizes(), tuned.options("target_norm")))

    def least_fall(depth):
        """Least log₁₀ of the ratio of the risks at a depth and at the deepest, by seed."""
        falls = [tuned.risk(depth=depth, samples=n, target_norm=norm)
                 - tuned.risk(depth=deepest, samples=n, target_norm=norm) for n, norm in tasks]  # fmt: skip
        return pd.concat(falls, axis=1).min(axis=1)

    found = {"deep": least_fall(1), "vanishes": least_fall(before) / np.log10(deepest / before)}
    return checks(found, before=before, deepest=deepest)
