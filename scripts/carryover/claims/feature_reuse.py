"""Risk claims of "Feature reuse in multi-task learning and finetuning" about diagonal networks."""

import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs


def check(data, p):
    """Role: `risk` of the overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    every = runs.extremes("overlap")[1]

    def advantage(protocol, over, overlap):
        return runs.risk(protocol=over, overlap=overlap) - runs.risk(protocol=protocol, overlap=overlap)

    orders = {overlap: advantage("multi_task", "finetuning", overlap) for overlap in runs.options("overlap")}
    found = {
        "finetuning_shared": advantage("finetuning", "single_task", every),
        "multi_task_shared": advantage("multi_task", "single_task", every),
        "probe_insufficient": advantage("finetuning", "finetuning_probe", 0.5),
        "multi_task_first": pd.DataFrame(orders).mean(axis=1),
    }
    return checks(found, samples=p.samples)
