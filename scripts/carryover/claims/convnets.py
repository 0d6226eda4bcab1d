"""Rescaling convolutional networks before finetuning improves them, and only then finetuning lowers the dimensionality:
Figs. 7 and 8d of "Feature reuse …" (B7), on networks of ours and on one pretrained on ImageNet (E9).

Controls are the same factor from scratch, on part of the weights, and against several learning rates. A convolution
before a normalisation is scale-invariant: its output depends on its direction alone, which a step of gradient descent
at weights times f turns as one at a rate over f² does. The pretrained network rescaled by f is hence compared with the
same network at the rate η/f².
"""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.image_tasks import (
    by_classes,
    by_task,
    in_words,
    most_common,
    network_in_words,
    seed_means,
    target_in_words,
)
from carryover.claims.support.runs import Runs, common_sizes, worst

FACTOR = 0.5
PARTS = ("weights", "readout")
AS_RATES = (0.5, 0.25)  # factors that are compared with the learning rate over their square


def convnet_rescaling(data, p):
    """Roles: `risk` of any experiments, each with networks finetuned with the factor and without, and from scratch.

    Tasks of two classes and of more are systems of their own. Statistics are shares of test images, differences between
    runs of the same seed, task and samples. Controls are checked if there are such networks. The bound of the gain
    itself is 1 %: with 0, no number of seeds could decide that there is none.
    """
    found = {}
    for role, risk in data.items():
        systems = by_classes(role, risk)
        values = {name: _of_system(Runs(name, runs)) for name, runs in systems.items()}
        for name, own in values.items():
            own = {f"{name}_{one}": gains for one, gains in own.items()}
            found |= checks(own, network=network_in_words(risk), target=target_in_words(systems[name]))
        if len(systems) == 2:
            pairs, classes = (np.sign(own["all"].mean()) * own["all"] for own in values.values())
            found |= checks({f"{role}_pairs_stronger": pairs - classes}, network=network_in_words(risk))
    return found


def _of_system(runs):
    """The gain of finetuned networks at the most common learning rate, and its controls."""
    usual = runs.where(learning_rate=most_common(runs.data, "learning_rate"))
    tuned, scratch = (usual.where(protocol=protocol) for protocol in ("finetuning", "single_task"))
    plain, scaled = tuned.where(rescaled="all", rescale=1.0), tuned.where(rescaled="all", rescale=FACTOR)
    found = {"all": seed_means(_gain(plain, scaled, common_sizes(plain, scaled)))}
    if FACTOR in scratch.options("rescale"):
        alone = [scratch.where(rescaled="all", rescale=factor) for factor in (1.0, FACTOR)]
        sizes = common_sizes(plain, scaled, *alone)
        found["over_scratch"] = seed_means(_gain(plain, scaled, sizes, True) - _gain(*alone, sizes, True))
    for part in PARTS:
        if part in tuned.options("rescaled"):
            some = tuned.where(rescaled=part, rescale=FACTOR)
            sizes = common_sizes(plain, scaled, some)
            values = seed_means(_gain(plain, scaled, sizes) - _gain(plain, some, sizes))
            found[f"over_{part}"] = Check(values, facts={"sizes": _listed(sizes)})
    every = runs.where(protocol="finetuning", rescaled="all", rescale=1.0)
    by_rate = [every.where(learning_rate=rate) for rate in every.options("learning_rate")]
    if len(by_rate) > 1:
        sizes = common_sizes(scaled, *by_rate)
        # To choose by the same test images favours the networks that were not rescaled.
        gain = min((_gain(one, scaled, sizes) for one in by_rate), key=lambda gains: gains.mean(axis=None))
        found["over_rates"] = Check(seed_means(gain), facts={"sizes": _listed(sizes), "rates": len(by_rate)})
    return found


def _gain(plain, scaled, sizes, trained=False):
    """What a factor adds to the accuracy, mean over numbers of samples, seeds by tasks; NaN where a run lacks.

    With `trained`, NaN also where training stopped before its tolerance, with or without the factor.
    """
    gains = []
    for n in sizes:
        one, other = (runs.where(samples=n).data for runs in (plain, scaled))
        gain = by_task(one, "risk_final") - by_task(other, "risk_final")
        done = (by_task(one, "converged") == 1) & (by_task(other, "converged") == 1)
        gains.append(gain.where(done) if trained else gain)
    return sum(gains) / len(sizes)


def _listed(numbers):
    return ", ".join(f"{number:g}" for number in numbers)


def convnet_stages(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    tuned = Runs("stages", data["stages"]).where(protocol="finetuning")
    usual = most_common(data["stages"], "learning_rate")
    runs, plain = tuned.where(learning_rate=usual), tuned.where(rescale=1.0)
    factors = [factor for factor in runs.options("rescale") if factor < 1]
    higher = [rate for rate in plain.options("learning_rate") if rate > usual]
    found = {}
    for stage in p.stages:

        def ratio(runs, over, under, stage=stage):
            """Of two quantities of the stage, seeds by tasks."""
            return by_task(runs.data.sel(stage=stage), over) / by_task(runs.data.sel(stage=stage), under)

        def change(runs, ratio=ratio):
            return ratio(runs, "participation_ratio", "participation_ratio_start")

        small = {factor: runs.where(rescale=factor) for factor in factors}
        falls = {factor: seed_means(1 - change(one)) for factor, one in small.items()}
        apart = {f: seed_means(-abs(ratio(one, "ensd", "participation_ratio") - 1)) for f, one in small.items()}
        ours = {
            f"falls_{stage}": worst(pd.DataFrame(falls)),
            f"inherited_{stage}": worst(pd.DataFrame(apart)),
            f"kept_{stage}": seed_means(change(plain.where(learning_rate=usual))),
        }
        if higher:
            kept = {rate: seed_means(change(plain.where(learning_rate=rate))) for rate in higher}
            ours[f"kept_rates_{stage}"] = Check(worst(pd.DataFrame(kept)), facts={"times": max(higher) / usual})
        found |= checks(ours, stage=stage)
    return found


def pretrained_rescaling(data, p):
    """Roles: `pairs` and `sets`, risks of networks finetuned with factors and at further learning rates, and from
    scratch, at one number of samples; `sizes`, with and without the factor at others; `probe`, linear probes."""

    def difference(runs, others):
        """How much more accurate runs are than others, mean over the tasks of each seed."""
        return seed_means(by_task(others.data, "risk_final") - by_task(runs.data, "risk_final"))

    found = {}
    for role in ("pairs", "sets"):
        runs, usual = Runs(role, data[role]), most_common(data[role], "learning_rate")
        tuned, scratch = (runs.where(protocol=protocol) for protocol in ("finetuning", "single_task"))
        plain, scaled = tuned.where(rescale=1.0), tuned.where(rescale=FACTOR)
        by_rate = {rate: plain.where(learning_rate=rate) for rate in plain.options("learning_rate")}
        as_it_is = by_rate[usual]
        # To choose the rate by the same test images favours the networks that were not rescaled.
        best = max(by_rate.values(), key=lambda one, as_it_is=as_it_is: difference(one, as_it_is).mean())
        ours = {
            f"{role}_helps": difference(scaled, as_it_is),
            f"{role}_over_rates": Check(difference(scaled, best), facts={"rates": len(by_rate)}),
            f"{role}_over_scratch": difference(as_it_is, scratch),
        }
        for factor in AS_RATES:
            rate = usual / factor**2
            apart = difference(tuned.where(rescale=factor), plain.where(learning_rate=rate))
            facts = {"factor": factor, "usual": usual, "rate": rate}
            ours[f"{role}_as_rate_{factor:g}"] = Check(-np.sign(apart.mean()) * apart, facts=facts)
        found |= checks(ours, which=in_words(data[role]))

    sizes = Runs("sizes", data["sizes"]).where(protocol="finetuning")
    for n in sizes.sizes():
        scaled, plain = (sizes.where(samples=n, rescale=factor) for factor in (FACTOR, 1.0))
        which = f"{in_words(data['sizes'])}, with {n} training images"
        found |= checks({f"sizes_{n}_helps": difference(scaled, plain)}, which=which)
    usual = most_common(data["probe"], "learning_rate")
    runs = Runs("probe", data["probe"]).where(rescale=1.0, learning_rate=usual).data
    before, after, tuned = (by_task(runs, name) for name in ("probe_start", "probe", "accuracy"))
    probed = {"tuned_over_probe": seed_means(tuned - before), "probe_improves": seed_means(after - before)}
    return found | checks(probed, which=in_words(data["pairs"]))
