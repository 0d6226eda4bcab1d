"""Do weights stay as near their start as what they learn allows? The premise of "The implicit penalty of finetuning in
ReLU networks" on trained networks (A)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, worst

EXCESS = 0.1  # share by which a squared distance may exceed the least that there is


@checks.group("1.1, eqs 2–4", "share in excess of the least, with the sign changed")
def check(data, p):
    """Roles: `displacement` of the experiments `overlap`, `nested` and `magnitude`, of finetuned networks.

    The first two claims are on the condition and the n with the largest mean over seeds, without rescaling.
    """
    overlap, nested, magnitude = (Runs(role, data[role]) for role in ("overlap", "nested", "magnitude"))
    low, _ = magnitude.extremes("correlation")
    small = magnitude.options("magnitude")[-2]
    similar = magnitude.where(correlation=low, magnitude=small)
    most = similar.sizes()[-1]
    left = similar.where(samples=most)
    within = "hardly farther from their start than need be for what they compute"
    return [
        ("nearest", f"Networks finetuned on shared, similar or new units end {within}, "
         "at every n", -_excess(overlap, ["unit_correlations"]), -EXCESS),
        ("nearest_nested", f"Networks finetuned on one or all of the units, or on as many new ones, end "
         f"{within}, at every n", -_excess(nested.where(rescale=1.0), ["main_features", "overlap"]), -EXCESS),
        ("not_least", f"Networks finetuned on small similar units (cosine {low:g}, magnitude {small:g}) learn "
         f"something farther from their start than the teacher, at n = {most:g}",
         np.log10(left.by_seed("penalty") / left.by_seed("penalty_teacher")), 0.0, checks.own("1.2, Fig. 1c"),
         "log₁₀ of a ratio of penalties R̃"),
    ]  # fmt: skip


def _excess(runs, conditions):
    """Squared distance over penalty, less 1, by seed, of the condition and the n where its mean is largest."""
    data = runs.data
    table = (data["displacement"] / data["penalty"] - 1).to_dataframe("excess").reset_index()
    return -worst(-table.pivot_table("excess", "seed", [*conditions, "samples"]))
