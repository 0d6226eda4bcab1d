"""Diagonal networks select few of the auxiliary features only when they are rescaled, and pay for it where all are
needed: "The implicit penalty", 1.2, and Fig. 1 of "Feature reuse …"."""

import numpy as np

from carryover.claims.support.checks import checks
from carryover.claims.support.runs import Runs


def check(data, p):
    """Role: `risk` of a nested experiment, rescaled by 1 and by less. Each statistic is a mean over seeds."""
    runs = Runs("risk", data["risk"]).where(overlap=1.0, samples=p.samples)
    few, many = runs.extremes("main_features")
    small = runs.where(protocol="finetuning").extremes("rescale")[0]

    def risk(protocol, rescale, features):
        return runs.risk(protocol=protocol, rescale=rescale, main_features=features)

    def selected(rescale):
        """How much better few features are learned than all, over the risk of predicting nothing: 1/k of k features."""
        return risk("finetuning", rescale, many) - risk("finetuning", rescale, few) + np.log10(many / few)

    gained, alone = (risk(name, 1.0, few) - risk(name, small, few) for name in ("finetuning", "single_task"))
    found = {
        "unrescaled": -selected(1.0),
        "needs_rescaling": selected(small) - selected(1.0),
        "beyond_scratch": gained - alone,
        "helps_scratch": alone,
        "costs_reuse": risk("finetuning", small, many) - risk("finetuning", 1.0, many),
    }
    return checks(found, few=few, many=many, small=small, samples=p.samples)
