"""Diagonal networks select few of the auxiliary features only when they are rescaled, and pay for it where all are
needed: "The implicit penalty", 1.2, and Fig. 1 of "Feature reuse …"."""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.runs import Runs

GAIN = 0.5  # decades of risk that are no gain yet
NESTED = "nested regime, Fig. 1"


@checks.group(NESTED, "log₁₀ of a ratio of risks")
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
    few_of, at = f"a task with {few:g} of the {many:g} pretrained features", f"at n = {p.samples}"
    return [
        ("unrescaled", f"Without rescaling, finetuned diagonal networks learn {few_of} hardly better, relative to "
         f"predicting nothing, than one with all, {at}",
         -selected(1.0), -GAIN, "1.2"),
        ("needs_rescaling", f"Rescaled by {small:g}, finetuned diagonal networks gain more from {few_of} than without "
         f"rescaling, {at}",
         selected(small) - selected(1.0), 0.0, "1.2"),
        ("beyond_scratch", f"On {few_of}, rescaling by {small:g} helps finetuned networks more than networks trained "
         f"from scratch, {at}", gained - alone, 0.0, checks.own(NESTED)),
        ("helps_scratch", f"On {few_of}, rescaling by {small:g} helps networks trained from scratch, {at}", alone, 0.0,
         checks.own(NESTED)),
        ("costs_reuse", f"On a task with all pretrained features, rescaling by {small:g} raises the risk of finetuned "
         f"networks, {at}",
         risk("finetuning", small, many) - risk("finetuning", 1.0, many), 0.0),
    ]  # fmt: skip
