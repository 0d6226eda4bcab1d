"""Risk claims of "Feature reuse in multi-task learning and finetuning" about diagonal networks."""

from carryover.analysis import intervals
from carryover.analysis.runs import Runs

NEW = "Fig. 4b's order of ReLU networks, in diagonal ones"


@intervals.claims("Fig. 1a", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of the overlap experiment. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    none, every = runs.extremes("overlap")

    def advantage(protocol, overlap, over="single_task"):
        return runs.risk(protocol=over, overlap=overlap) - runs.risk(protocol=protocol, overlap=overlap)

    at = f"at n = {p.samples}"
    orders = {
        "multi_task_disjoint": ("when no feature is shared", advantage("multi_task", none, over="finetuning")),
        "multi_task_new": ("when half of the features are new", advantage("multi_task", 0.5, over="finetuning")),
        "multi_task_shared_all": ("when all features are shared", advantage("multi_task", every, over="finetuning")),
    }
    return [
        *shared(lambda protocol: advantage(protocol, every), at),
        ("probe_insufficient", "When half of the features are new, finetuning the whole network errs less than "
         f"training its readout alone, {at}", advantage("finetuning", 0.5, over="finetuning_probe"), 0.0),
        *((name, f"Multi-task networks err less than finetuned networks {when}, {at}", values, 0.0, intervals.own(NEW))
          for name, (when, values) in orders.items()),
    ]  # fmt: skip


def shared(advantage, at):
    """Claims of both ways of reuse over learning from scratch; `advantage` of a protocol gives log₁₀ ratios by seed."""
    return [
        (f"{protocol}_shared", f"{name} networks err less than networks trained from scratch when the tasks share all "
         f"features, {at}", advantage(protocol), 0.0)
        for protocol, name in (("finetuning", "Finetuned"), ("multi_task", "Multi-task"))
    ]  # fmt: skip
