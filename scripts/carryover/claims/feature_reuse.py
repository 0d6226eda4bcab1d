"""Risk claims of "Feature reuse in multi-task learning and finetuning" about diagonal networks."""

from dataclasses import dataclass

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(32, "main-task samples at which protocols are compared", minimum=1)


@intervals.claims("Fig. 1a", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of the overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)

    def advantage(protocol, overlap, over="single_task"):
        return runs.risk(protocol=over, overlap=overlap) - runs.risk(protocol=protocol, overlap=overlap)

    at = f"at n = {p.samples}"
    return [
        *shared(lambda protocol: advantage(protocol, max(runs.options("overlap"))), at),
        ("probe_insufficient", f"PT+FT beats a linear probe of it when half of the features are new, {at}",
         advantage("finetuning", 0.5, over="finetuning_probe"), 0.0),
        ("multi_task_new", f"MTL beats PT+FT when half of the features are new, {at}",
         advantage("multi_task", 0.5, over="finetuning"), 0.0, "Fig. 4b's order in diagonal networks"),
    ]  # fmt: skip


def shared(advantage, at):
    """Claims of both ways of reuse over learning from scratch; `advantage` of a protocol gives log₁₀ ratios by seed."""
    return [
        ("finetuning_shared", f"PT+FT beats STL when all features are shared, {at}", advantage("finetuning"), 0.0),
        ("multi_task_shared", f"MTL beats STL when all features are shared, {at}", advantage("multi_task"), 0.0),
    ]
