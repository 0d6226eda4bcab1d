"""Simulated networks end where the exact limit says (E1), and not where eq 22's symmetric penalty says."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.agreement import distances

FLOW = 1e-3  # largest relative distance of the adaptive flow
DESCENT = 1e-2  # largest relative distance of gradient descent


@checks.group("exact and simulated", "log₁₀ of the allowed over the largest relative distance")
def check(data, p):
    """Role: `coefficients` of an experiment solved and simulated. Statistics are in decades of relative distance."""
    table = distances(data["coefficients"]).to_dataframe()
    worst = table.groupby(["solver", "seed"])["distance"].max()
    finetuned = table[table["protocol"] == "finetuning"].groupby(["solver", "seed"])["distance"].median()
    return [
        ("flow_exact", "Networks trained by our gradient flow end at the exact limit",
         np.log10(FLOW / worst["flow"]), 0.0),
        ("descent_exact", "Networks trained by gradient descent end at the exact limit of gradient flow",
         np.log10(DESCENT / worst["descent"]), 0.0),
        ("not_symmetric", "Finetuned networks minimise the penalty of the weights they start from rather than that of "
         "eq 22",
         np.log10(finetuned["symmetric"] / finetuned["descent"]), 0.0, "App. A of Feature reuse, eq 22",
         "log₁₀ of a ratio of median distances"),
    ]  # fmt: skip
