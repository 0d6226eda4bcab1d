"""Risk claims of "Feature reuse in multi-task learning and finetuning" about diagonal networks."""

import pandas as pd

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs


@checks.group("Fig. 1a", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of the overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    every = runs.extremes("overlap")[1]

    def advantage(protocol, overlap, over="single_task"):
        return runs.risk(protocol=over, overlap=overlap) - runs.risk(protocol=protocol, overlap=overlap)

    at = f"at n = {p.samples}"
    orders = pd.DataFrame({one: advantage("multi_task", one, over="finetuning") for one in runs.options("overlap")})
    return [
        *shared(lambda protocol: advantage(protocol, every), at),
        ("probe_insufficient", "When half of the features are new, finetuning the whole network errs less than "
         f"training its readout alone, {at}", advantage("finetuning", 0.5, over="finetuning_probe"), 0.0),
        ("multi_task_first", "Multi-task networks err less than finetuned networks, on average over shares of common "
         f"features, {at}", orders.mean(axis=1), 0.0, checks.own("App. D, Fig. 4b")),
    ]  # fmt: skip


def shared(advantage, at):
    """Claims of both ways of reuse over learning from scratch; `advantage` of a protocol gives log₁₀ ratios by seed."""
    return [
        (f"{protocol}_shared", f"{name} networks err less than networks trained from scratch when the tasks share all "
         f"features, {at}", advantage(protocol), 0.0)
        for protocol, name in (("finetuning", "Finetuned"), ("multi_task", "Multi-task"))
    ]  # fmt: skip
