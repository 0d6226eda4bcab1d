"""Simulated networks end where the exact limit says (E1), and not where eq 22's symmetric penalty says."""

import numpy as np

from carryover.claims.support.agreement import distances
from carryover.claims.support.checks import checks

FLOW = 1e-3  # largest relative distance of the adaptive flow
DESCENT = 1e-2  # largest relative distance of gradient descent


def check(data, p):
    """Role: `coefficients` of an experiment solved and simulated. Statistics are in decades of relative distance."""
    table = distances(data["coefficients"]).to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max()
    finetuned = table[table["protocol"] == "finetuning"].groupby(["solver", "seed"])["distance"].median()
    return checks({
        "flow_exact": np.log10(FLOW / worst["flow"]),
        "descent_exact": np.log10(DESCENT / worst["descent"]),
        "not_symmetric": np.log10(finetuned["symmetric"] / finetuned["descent"]),
    })  # fmt: skip
