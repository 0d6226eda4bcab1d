"""What depth is worth where the target is the source, scaled: theorem 5.3 of "Finetuning with linear teachers"."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter
from carryover.errors import UserError

ROLES = ("risk",)


@dataclass(frozen=True, kw_only=True)
class Parameters:
    near: float = parameter(0.01, "decades of risk that count as no difference from eq 8", above=0)
    exponent: float = parameter(1.5, "power of the depth that the risk falls at least with", above=0)


@intervals.claims("theorem 5.3")
def check(data, p):
    """Role `risk`: exact limits of finetuned and single-task networks, without noise, of one layer and more, for tasks
    at angle 0. Every statistic is that of the samples and the target's norm at which it is worst, as a mean over seeds.

    One layer from scratch leaves ‖Σ^½ P⊥ θ_T‖², so that eq 8 says a ratio of risks: ((α − 1)/α)². That the risk goes to
    0 with depth is shown by no depth; claimed is that between the two deepest it still falls as a power of depth.
    """
    runs = Runs("risk", data["risk"]).where(angle=0.0, noise=0.0, solver="exact")
    tuned, scratch = (runs.where(protocol=protocol) for protocol in ("finetuning", "single_task"))
    source, (shallow, *_, before, deepest) = tuned.only("source_norm"), _depths(tuned)
    at = [{"samples": n, "target_norm": norm} for n, norm in product(tuned.sizes(), tuned.options("target_norm"))]
    off = [_from_eq_8(tuned, scratch, one, source) for one in at]
    falls = [tuned.risk(depth=before, **one) - tuned.risk(depth=deepest, **one) for one in at]
    return [
        ("one_layer", "Where source and target are aligned, finetuning one layer leaves the risk of eq 8",
         p.near - _each(off).abs().max(axis=1), 0.0, "theorem 5.3, eq 8", "allowed less largest distance in decades"),
        ("deep", f"Where source and target are aligned, {deepest:g} layers leave next to nothing of the risk of one",
         _each(tuned.risk(depth=shallow, **one) - tuned.risk(depth=deepest, **one) for one in at).min(axis=1), 2.0,
         None, "least log₁₀ of a ratio of risks"),
        ("vanishes", f"From {before:g} to {deepest:g} layers the risk of aligned tasks still falls like a power of the "
         "depth, towards 0", _each(falls).min(axis=1) / np.log10(deepest / before), p.exponent, None, "least power"),
    ]  # fmt: skip


def _depths(runs):
    depths = runs.options("depth")
    if depths[0] != 1 or len(depths) < 3:
        raise UserError("this claim needs networks of one layer and of two larger depths of the role risk.")
    return depths


def _from_eq_8(tuned, scratch, one, source):
    """Decades between the risk of one finetuned layer and eq 8, by seed."""
    alpha = one["target_norm"] / source
    if alpha == 1:
        raise UserError(
            "this claim needs target_norm other than source_norm of the role risk: eq 8 is 0 where they agree."
        )
    share = 2 * np.log10(abs(alpha - 1) / alpha)
    return tuned.risk(depth=1, **one) - scratch.risk(depth=1, **one) - share


def _each(series):
    """Seeds (rows) by samples and norms (columns)."""
    return pd.concat(list(series), axis=1)
