"""Risk claims of "Feature reuse in multi-task learning and finetuning" about ReLU networks with shared features, or
correlated ones (B2)."""

from itertools import product

import pandas as pd

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs, common_sizes


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
    first = pd.DataFrame({
        (overlap, n): advantage(identical, "multi_task", "finetuning", overlap=overlap, samples=n)
        for overlap, n in product(overlaps, common_sizes(*compared))
    })  # fmt: skip
    learned = pd.DataFrame({one: advantage(here, "finetuning", "finetuning_kernel", overlap=one) for one in overlaps})
    found = checks({
        "finetuning_shared": advantage(here, "finetuning", "single_task", both=False, overlap=1.0),
        "multi_task_shared": advantage(here, "multi_task", "single_task", both=False, overlap=1.0),
        "multi_task_first": first.mean(axis=1),
        "feature_learning": learned.mean(axis=1, skipna=False),
        "feature_learning_new": learned[0.5] - learned[1.0],
    })  # fmt: skip
    for cosine in (value for value in every.options("correlation") if 0 < value < 1):
        similar = every.where(samples=p.samples, correlation=cosine, overlap=1.0)
        gain = advantage(similar, "finetuning", "single_task", both=False)
        found |= checks({f"correlated_{cosine:g}": gain}, cosine=cosine)
    return checks(found, samples=p.samples)
