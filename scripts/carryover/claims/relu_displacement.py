"""Do weights stay as near their start as what they learn allows? The premise of "The implicit penalty of finetuning in
ReLU networks" on trained networks (A)."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, worst


def check(data, p):
    """Roles: `displacement` of the experiments `overlap`, `nested` and `magnitude`, of finetuned networks.

    The first two claims are on the condition and the n with the largest mean over seeds, without rescaling.
    """
    overlap, nested, magnitude = (Runs(role, data[role]) for role in ("overlap", "nested", "magnitude"))
    low, _ = magnitude.extremes("correlation")
    small = magnitude.options("magnitude")[-2]
    similar = magnitude.where(correlation=low, magnitude=small)
    most = similar.sizes()[-1]
    penalty, least = (similar.by_seed(name, samples=most) for name in ("penalty", "penalty_teacher"))
    found = {
        "nearest": _excess(overlap, ["unit_correlations"]),
        "nearest_nested": _excess(nested.where(rescale=1.0), ["main_features", "overlap"]),
        "not_least": np.log10(penalty / least),
    }
    return checks(found, low=low, small=small, most=most)


def _excess(runs, conditions):
    """1 less squared distance over penalty, by seed, of the condition and the n where its mean is smallest."""
    data = runs.data
    table = (data["displacement"] / data["penalty"] - 1).to_dataframe("excess").reset_index()
    return worst(-table.pivot_table("excess", "seed", [*conditions, "samples"]))
