"""The rich regime helps if, and only if, the teacher is sparse: risk claims about ReLU networks (B3)."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs

GAIN = 1.25  # factor on the risk that is no gain yet
MATCH = 0.95  # share of the teacher's mean square from which on a function matches it
LAZY = {"single_task": "those from large (lazy) weights", "single_task_kernel": "the tangent kernel"}


@checks.group(measured="log₁₀ of a ratio of risks")
def check(data, p):
    """Roles: `risk` of single-task learning, and, if wanted, its `norms`, the measure `relu_norms`. Each statistic is a
    mean over seeds of log₁₀ of a ratio of risks, but of `dense_matched`."""
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

    at, rich_ones = f"at n = {p.samples}", "networks trained from small weights"
    compared = [
        ("sparse", f"On a teacher of {few:g} units, {rich_ones} have less than {1 / GAIN:g} times the risk of "
         f"{against}, {at}", gain(few, "lazy"), np.log10(GAIN)),
        ("dense", f"On a teacher of {many:g} units, {rich_ones} have at least {1 / GAIN:g} times the risk of "
         f"{against}, {at}", np.log10(GAIN) - gain(many, "lazy", "rich"), 0.0),
        ("sparsity", f"{rich_ones.capitalize()} gain more on {against} for a teacher of {few:g} units than for one of "
         f"{many:g}, {at}", gain(few, "lazy") - gain(many, "rich"), 0.0),
    ]  # fmt: skip
    return [*((*claim, p.section) for claim in compared), *(_matched(data, many) if "norms" in data else ())]


def _matched(data, many):
    """Whether the function is the teacher's in the end, if `norms` say how large that is."""
    rich = (Runs(role, data[role]).where(protocol="single_task", main_features=many).regimes()[0]
            for role in ("risk", "norms"))  # fmt: skip
    risk, norms = rich
    most = risk.sizes()[-1]
    unexplained = risk.by_seed("risk_final", samples=most) / norms.by_seed("l2_norm_teacher", samples=most) ** 2
    statement = (
        f"Networks trained from small weights on a teacher of {many:g} units match its function, at n = {most:g}"
    )
    return [("dense_matched", statement, 1 - unexplained, MATCH, "App. E.2.1", "share of the teacher's mean square")]
