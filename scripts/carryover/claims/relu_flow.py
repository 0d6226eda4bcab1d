"""Gradient descent on ReLU networks goes where their flow goes, the more closely the smaller its steps are."""

import numpy as np

from carryover.claims.support.agreement import descent_and_flow
from carryover.claims.support.checks import checks

DIFFERENCE = 0.01  # largest relative difference of risks at the smallest learning rate


def check(data, p):
    """Role: `risk` of an experiment by flow and by descent with several learning rates. Statistics are in decades."""
    table = descent_and_flow(data["risk"])
    by_rate = table.groupby(["learning_rate", "seed"])["difference"]
    largest_difference, typical = by_rate.max(), by_rate.median()
    smallest, largest = table["learning_rate"].min(), table["learning_rate"].max()
    found = {
        "descent_follows": np.log10(DIFFERENCE / largest_difference[smallest]),
        "steps_shrink": np.log10(typical[largest] / typical[smallest]),
    }
    return checks(found, smallest=smallest, largest=largest)
