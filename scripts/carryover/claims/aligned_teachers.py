"""What depth is worth where the target is the source, scaled: theorem 5.3 of "Finetuning with linear teachers"."""

from itertools import product

import numpy as np
import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs
from carryover.errors import UserError

EXPONENT = 1.5  # power of the depth that the risk falls at least with


@checks.group("theorem 5.3")
def check(data, p):
    """Role `risk`: exact limits of finetuned networks, without noise, of one layer and more, for tasks at angle 0.
    Every statistic is that of the samples and the target's norm at which it is worst, as a mean over seeds.

    No depth shows that the risk goes to 0; claimed is that between the two deepest it still falls as a power of depth.
    """
    tuned = Runs("risk", data["risk"]).where(angle=0.0, noise=0.0, solver="exact", protocol="finetuning")
    shallow, *_, before, deepest = _depths(tuned)
    at = [{"samples": n, "target_norm": norm} for n, norm in product(tuned.sizes(), tuned.options("target_norm"))]
    falls = [tuned.risk(depth=before, **one) - tuned.risk(depth=deepest, **one) for one in at]
    return [
        ("deep", f"Where source and target are aligned, {deepest:g} layers leave next to nothing of the risk of one",
         _each(tuned.risk(depth=shallow, **one) - tuned.risk(depth=deepest, **one) for one in at).min(axis=1), 2.0,
         None, "least log₁₀ of a ratio of risks"),
        ("vanishes", f"From {before:g} to {deepest:g} layers the risk of aligned tasks still falls like a power of the "
         "depth, towards 0", _each(falls).min(axis=1) / np.log10(deepest / before), EXPONENT, None, "least power"),
    ]  # fmt: skip


def _depths(runs):
    depths = runs.options("depth")
    if depths[0] != 1 or len(depths) < 3:
        raise UserError("this claim needs networks of one layer and of two larger depths of the role risk.")
    return depths


def _each(series):
    """Seeds (rows) by samples and norms (columns)."""
    return pd.concat(list(series), axis=1)
