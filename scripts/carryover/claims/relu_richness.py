"""The rich regime helps if, and only if, the teacher is sparse: risk claims about ReLU networks (B3)."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs

GAIN = 1.25  # factor on the risk that is no gain yet
LAZY = {"single_task": "those from large (lazy) weights", "single_task_kernel": "the tangent kernel"}


def check(data, p):
    """Roles: `risk` of single-task learning, and, if wanted, its `norms`, the measure `relu_norms`. Each statistic is a
    mean over seeds of log₁₀ of a ratio of risks, but of `dense_matched`."""
    every = Runs("risk", data["risk"])
    runs = every.where(samples=p.samples)
    few, many = runs.extremes("main_features")
    rich, lazy = runs.where(protocol="single_task").regimes()
    if p.lazy == "single_task_kernel":
        kernels = runs.where(protocol=p.lazy)
        lazy = kernels.where(initial_scale=min(kernels.options("initial_scale")))

    def gain(count, *trained):
        """log₁₀ of lazy over rich; `trained` names those whose training must be done."""
        over = lazy.risk("lazy" in trained, main_features=count)
        return over - rich.risk("rich" in trained, main_features=count)

    found = {
        "sparse": gain(few, "lazy"),
        "dense": np.log10(GAIN) - gain(many, "lazy", "rich"),
        "sparsity": gain(few, "lazy") - gain(many, "rich"),
    }
    found = checks(found, few=few, many=many, lazy=LAZY[p.lazy], samples=p.samples)
    if "norms" in data:
        risk, norms = (one.where(protocol="single_task", main_features=many).regimes()[0]
                       for one in (every, Runs("norms", data["norms"])))  # fmt: skip
        most = risk.sizes()[-1]
        unexplained = risk.by_seed("risk_final", samples=most) / norms.by_seed("l2_norm_teacher", samples=most) ** 2
        found |= checks({"dense_matched": 1 - unexplained}, many=many, most=most)
    return found
