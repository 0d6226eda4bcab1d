"""Risk claims of "Feature reuse in multi-task learning and finetuning" about ReLU networks with shared features, or
correlated ones (B2)."""

from itertools import product

import pandas as pd

from carryover.claims.feature_reuse import shared
from carryover.claims.support import checks
from carryover.claims.support.runs import Runs, common_sizes

OVERLAP = 0.5  # share of the main features that are auxiliary ones where some are new


@checks.group(measured="log₁₀ of a ratio of risks")
def check(data, p):
    """Role: `risk` of an overlap experiment. Statistics are means over seeds of log₁₀ of a ratio of risks."""
    every = Runs("risk", data["risk"])
    identical, here = every.where(correlation=1.0), every.where(samples=p.samples, correlation=1.0)

    def advantage(runs, protocol, over, both=True, **condition):
        """`over` must have been trained to its end, and `protocol` where `both` must."""
        first = runs.risk(trained=True, protocol=over, **condition)
        return first - runs.risk(both, protocol=protocol, **condition)

    overlaps = here.options("overlap")
    compared = [identical.where(protocol=protocol) for protocol in ("multi_task", "finetuning")]
    cells = list(product(overlaps, common_sizes(*compared)))
    order = pd.DataFrame({
        (overlap, n): advantage(identical, "multi_task", "finetuning", overlap=overlap, samples=n)
        for overlap, n in cells
    })  # fmt: skip
    learned = pd.DataFrame({one: advantage(here, "finetuning", "finetuning_kernel", overlap=one) for one in overlaps})
    at = f"at n = {p.samples}"
    kernel = "the tangent kernel of the pretrained network"
    statements = [
        *shared(lambda protocol: advantage(here, protocol, "single_task", both=False, overlap=1.0), at),
        ("multi_task_first", "Multi-task networks beat finetuned ones, on average over shares of common features and "
         "over n, among networks that can be trained", order.mean(axis=1), 0.0),
        ("feature_learning", f"Finetuned networks beat {kernel}, on average over shares of common features, {at}",
         learned.mean(axis=1, skipna=False), 0.0),
        ("feature_learning_new", f"Finetuned networks gain more on {kernel} when a share of {1 - OVERLAP:g} of "
         f"features is new than when none is, {at}", learned[OVERLAP] - learned[1.0], 0.0),
    ]  # fmt: skip
    return [*((*one, p.section) for one in statements), *_correlated(every.where(samples=p.samples), at)]


def _correlated(runs, at):
    """Where all units are similar to auxiliary ones, if there are such runs."""
    for cosine in (value for value in runs.options("correlation") if 0 < value < 1):
        similar = runs.where(correlation=cosine, overlap=1.0)
        scratch, tuned = (similar.risk(name == "single_task", protocol=name) for name in ("single_task", "finetuning"))
        statement = (
            f"On units at cosine {cosine:g} to the auxiliary ones, finetuned networks beat networks trained from "
            f"scratch, {at}"
        )
        yield f"correlated_{cosine:g}", statement, scratch - tuned, 0.0, "App. E.2.2, Fig. 2a"
