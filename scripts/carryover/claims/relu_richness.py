"""The rich regime helps if, and only if, the teacher is sparse: risk claims about ReLU networks (B3)."""

from dataclasses import dataclass

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.runs import Runs
from carryover.config.parameters import parameter

LAZY = {"single_task": "lazy networks", "single_task_kernel": "the tangent kernel"}


@dataclass(frozen=True, kw_only=True)
class Parameters:
    samples: int = parameter(256, "samples at which networks are compared", minimum=1)
    lazy: str = parameter("single_task", "what rich networks face: those from the largest initial scale, or "
                          "the tangent kernel at the smallest", choices=tuple(LAZY))  # fmt: skip
    gain: float = parameter(1.25, "factor on the risk that is no gain yet", minimum=1)


@intervals.claims("App. D, Fig. 4a", "log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of single-task learning. Each statistic is a mean over seeds of log₁₀ of a ratio of risks."""
    runs = Runs("risk", data["risk"]).where(samples=p.samples)
    few, many = runs.extremes("main_features")
    rich, lazy = runs.where(protocol="single_task").regimes()
    if p.lazy == "single_task_kernel":
        kernels = runs.where(protocol=p.lazy)
        lazy = kernels.where(initial_scale=min(kernels.options("initial_scale")))
    against = LAZY[p.lazy]

    def gain(count, *trained):
        """log₁₀ of lazy over rich; `trained` names those whose training must be done."""
        over = lazy.risk("lazy" in trained, main_features=count)
        return over - rich.risk("rich" in trained, main_features=count)

    at = f"at n = {p.samples}"
    return [
        ("sparse", f"Rich networks beat {against} on a teacher of {few:g} units, {at}",
         gain(few, "lazy"), 0.0),
        ("dense", f"Rich networks gain less than a factor {p.gain:g} over {against} on one of {many:g} units, {at}",
         np.log10(p.gain) - gain(many, "lazy", "rich"), 0.0),
        ("sparsity", f"Rich networks gain more over {against} from {few:g} than from {many:g} units, {at}",
         gain(few, "lazy") - gain(many, "rich"), 0.0),
    ]  # fmt: skip
