"""Rescaling a network pretrained on ImageNet before finetuning improves it (Fig. 7 of "Feature reuse …"), and does more
than another learning rate.

A convolution before a normalisation is scale-invariant: its output depends on its direction alone, which a step of
gradient descent at weights times f turns as one at a rate over f² does. A network rescaled by f is hence compared with
the same network at the rate η/f².
"""

import numpy as np

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.image_tasks import by_task, in_words, most_common, seed_means
from carryover.claims.support.runs import Runs

FACTOR = 0.5
AS_RATES = (0.5, 0.25)  # factors that are compared with the learning rate over their square


def check(data, p):
    """Roles: `pairs` and `sets`, risks of networks finetuned with factors and at further learning rates, and from
    scratch, at one number of samples; `sizes`, with and without the factor at others; `probe`, linear probes."""
    found = _of_system("pairs", data["pairs"]) | _of_system("sets", data["sets"])
    sizes = Runs("sizes", data["sizes"]).where(protocol="finetuning")
    for n in sizes.sizes():
        runs, which = sizes.where(samples=n), f"{in_words(data['sizes'])}, with {n} training images"
        gain = _difference(runs.where(rescale=FACTOR), runs.where(rescale=1.0))
        found |= checks({f"sizes_{n}_helps": gain}, which=which)
    usual = most_common(data["probe"], "learning_rate")
    runs = Runs("probe", data["probe"]).where(rescale=1.0, learning_rate=usual).data
    before, after, tuned = (by_task(runs, name) for name in ("probe_start", "probe", "accuracy"))
    probed = {"tuned_over_probe": seed_means(tuned - before), "probe_improves": seed_means(after - before)}
    return found | checks(probed, which=in_words(data["pairs"]))


def _of_system(role, risk):
    usual = most_common(risk, "learning_rate")
    tuned = Runs(role, risk).where(protocol="finetuning")
    plain = tuned.where(rescale=1.0)
    as_it_is, scaled = plain.where(learning_rate=usual), tuned.where(rescale=FACTOR)
    scratch = Runs(role, risk).where(protocol="single_task")
    # To choose the rate by the same test images favours the networks that were not rescaled.
    rates = [plain.where(learning_rate=rate) for rate in plain.options("learning_rate")]
    best = max(rates, key=lambda runs: _difference(runs, as_it_is).mean())
    found = {
        f"{role}_helps": _difference(scaled, as_it_is),
        f"{role}_over_rates": Check(_difference(scaled, best), facts={"rates": len(rates)}),
    }
    for factor in AS_RATES:
        rate = usual / factor**2
        apart = _difference(tuned.where(rescale=factor), plain.where(learning_rate=rate))
        facts = {"factor": factor, "usual": usual, "rate": rate}
        found[f"{role}_as_rate_{factor:g}"] = Check(-np.sign(apart.mean()) * apart, facts=facts)
    found[f"{role}_over_scratch"] = _difference(as_it_is, scratch)
    return checks(found, which=in_words(risk))


def _difference(runs, others):
    """How much more accurate runs are than others, mean over the tasks of each seed."""
    return seed_means(by_task(others.data, "risk_final") - by_task(runs.data, "risk_final"))
