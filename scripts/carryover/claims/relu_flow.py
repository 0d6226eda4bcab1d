"""Gradient descent on ReLU networks goes where their flow goes, the more closely the smaller its steps are."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.agreement import descent_and_flow

DIFFERENCE = 0.01  # largest relative difference of risks at the smallest learning rate


@checks.group("exact and simulated", "log₁₀ of the allowed over the largest relative difference of risks")
def check(data, p):
    """Role: `risk` of an experiment by flow and by descent with several learning rates. Statistics are in decades."""
    table = descent_and_flow(data["risk"])
    by_rate = table.groupby(["learning_rate", "seed"])["difference"]
    worst, typical = by_rate.max(), by_rate.median()
    smallest, largest = table["learning_rate"].min(), table["learning_rate"].max()
    return [
        ("descent_follows",
         f"Gradient descent with learning rate {smallest:g} ends at the risks of gradient flow, in every ReLU network",
         np.log10(DIFFERENCE / worst[smallest]), 0.0),
        ("steps_shrink", f"Its risks are nearer to those of the flow than with learning rate {largest:g}",
         np.log10(typical[largest] / typical[smallest]), 0.0, "exact and simulated",
         "log₁₀ of a ratio of median relative differences of risks"),
    ]  # fmt: skip
