"""Rescaling convolutional networks before finetuning improves them, and only then finetuning lowers the dimensionality:
Figs. 7 and 8d of "Feature reuse …" (B7), on networks of ours and on one pretrained on ImageNet (E9).

Controls are the same factor from scratch, on part of the weights, and against several learning rates. A convolution
before a normalisation is scale-invariant: its output depends on its direction alone, which a step of gradient descent
at weights times f turns as one at a rate over f² does. The pretrained network rescaled by f is hence compared with the
same network at the rate η/f².

Networks of one seed share what they were pretrained on, and its tasks share classes, so that two of its runs are not
independent; means over the tasks of each seed are. Seeds draw their tasks among all classes of a set of images.
"""

import numpy as np
import pandas as pd

from carryover.claims.support.checks import Check, checks, listed
from carryover.claims.support.runs import Runs, common_sizes, mean_over_samples, worst
from carryover.labels import value_labels

PAIRS = 2
IMAGES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar-10": "CIFAR-10", "cifar-100": "CIFAR-100",
          "stl-10": "STL-10"}  # fmt: skip
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
    plain, scaled = (tuned.where(rescaled="all", rescale=factor) for factor in (1.0, FACTOR))
    found = {"all": _gain(plain, scaled).mean(axis=1)}
    if FACTOR in scratch.options("rescale"):
        alone = [scratch.where(rescaled="all", rescale=factor) for factor in (1.0, FACTOR)]
        sizes = common_sizes(plain, scaled, *alone)
        found["over_scratch"] = (_gain(plain, scaled, sizes, True) - _gain(*alone, sizes, True)).mean(axis=1)
    for part in PARTS:
        if part in tuned.options("rescaled"):
            some = tuned.where(rescaled=part, rescale=FACTOR)
            sizes = common_sizes(plain, scaled, some)
            values = (_gain(plain, scaled, sizes) - _gain(plain, some, sizes)).mean(axis=1)
            found[f"over_{part}"] = Check(values, facts={"sizes": listed(sizes)})
    every = runs.where(protocol="finetuning", rescaled="all", rescale=1.0)
    by_rate = [every.where(learning_rate=rate) for rate in every.options("learning_rate")]
    if len(by_rate) > 1:
        found["over_rates"] = _over_best_rate(by_rate, scaled)
    return found


def _over_best_rate(by_rate, scaled):
    """What a factor adds over the best of several learning rates without it, mean over the tasks of each seed.

    To choose by the same test images favours the networks that were not rescaled.
    """
    sizes = common_sizes(scaled, *by_rate)
    gain = min((_gain(one, scaled, sizes) for one in by_rate), key=lambda gains: gains.mean(axis=None))
    return Check(gain.mean(axis=1), facts={"sizes": listed(sizes), "rates": len(by_rate)})


def _gain(plain, other, sizes=None, trained=False):
    """How much more accurate other networks are, mean over numbers of samples (all that both have, if none are given),
    seeds by tasks; NaN where a run lacks, and with `trained` also where training stopped before its tolerance."""

    def error(runs):
        table = runs.table("risk_final", "samples", "task")
        return table.where(runs.table("converged", "samples", "task") == 1) if trained else table

    return mean_over_samples(error(plain) - error(other), sizes or common_sizes(plain, other))


def convnet_stages(data, p):
    """Role: `stages` of networks finetuned with factors below 1, and with 1. PR: participation ratio of a stage's
    outputs for test images of the task; ENSD: effective number of shared dimensions of start and end."""
    tuned = Runs("stages", data["stages"]).where(protocol="finetuning")
    usual = most_common(data["stages"], "learning_rate")
    factors = [factor for factor in tuned.where(learning_rate=usual).options("rescale") if factor < 1]
    rates, found = tuned.where(rescale=1.0).options("learning_rate"), {}
    for stage in p.stages:
        runs, unscaled = (tuned.where(stage=stage, **one) for one in ({"learning_rate": usual}, {"rescale": 1.0}))
        kept = runs.ratio("participation_ratio", "participation_ratio_start", "rescale", "task")
        shared = runs.ratio("ensd", "participation_ratio", "rescale", "task")
        falls = {factor: 1 - kept[factor].mean(axis=1) for factor in factors}
        inherited = {factor: -abs(shared[factor] - 1).mean(axis=1) for factor in factors}
        kept = unscaled.ratio("participation_ratio", "participation_ratio_start", "learning_rate", "task")
        kept = pd.DataFrame({rate: kept[rate].mean(axis=1) for rate in rates})
        ours = {
            f"falls_{stage}": worst(pd.DataFrame(falls)),
            f"inherited_{stage}": worst(pd.DataFrame(inherited)),
            f"kept_{stage}": kept[usual],
        }
        if higher := [rate for rate in rates if rate > usual]:
            ours[f"kept_rates_{stage}"] = Check(worst(kept[higher]), facts={"times": max(rates) / usual})
        found |= checks(ours, stage=stage)
    return found


def pretrained_rescaling(data, p):
    """Roles: `pairs` and `sets`, risks of networks finetuned with factors and at further learning rates, and from
    scratch, at one number of samples; `sizes`, with and without the factor at others; `probe`, linear probes."""
    found = {}
    for role in ("pairs", "sets"):
        runs, usual = Runs(role, data[role]), most_common(data[role], "learning_rate")
        tuned, scratch = (runs.where(protocol=protocol) for protocol in ("finetuning", "single_task"))
        plain, scaled = tuned.where(rescale=1.0), tuned.where(rescale=FACTOR)
        by_rate = {rate: plain.where(learning_rate=rate) for rate in plain.options("learning_rate")}
        ours = {
            f"{role}_helps": _gain(by_rate[usual], scaled).mean(axis=1),
            f"{role}_over_rates": _over_best_rate(by_rate.values(), scaled),
            f"{role}_over_scratch": _gain(scratch, by_rate[usual]).mean(axis=1),
        }
        for factor in AS_RATES:
            rate = usual / factor**2
            apart = _gain(plain.where(learning_rate=rate), tuned.where(rescale=factor)).mean(axis=1)
            facts = {"factor": factor, "usual": usual, "rate": rate}
            ours[f"{role}_as_rate_{factor:g}"] = Check(-np.sign(apart.mean()) * apart, facts=facts)
        found |= checks(ours, which=in_words(data[role]))

    sizes = Runs("sizes", data["sizes"]).where(protocol="finetuning")
    plain, scaled = (sizes.where(rescale=factor) for factor in (1.0, FACTOR))
    for n in sizes.sizes():
        which = f"{in_words(data['sizes'])}, with {n} training images"
        found |= checks({f"sizes_{n}_helps": _gain(plain, scaled, [n]).mean(axis=1)}, which=which)
    usual = most_common(data["probe"], "learning_rate")
    runs = Runs("probe", data["probe"]).where(rescale=1.0, learning_rate=usual)
    before, after, tuned = (runs.table(name, "task") for name in ("probe_start", "probe", "accuracy"))
    probed = {"tuned_over_probe": (tuned - before).mean(axis=1), "probe_improves": (after - before).mean(axis=1)}
    return found | checks(probed, which=in_words(data["pairs"]))


def most_common(runs, name):
    """The value of a coordinate that most runs have; the others are controls."""
    values, counts = np.unique(runs[name].values, return_counts=True)
    return values[counts.argmax()].item()


def by_classes(role, data):
    """{name: runs} by the number of classes of the tasks, fewest first: "role_pairs", "role_5_classes", ….

    {role: data} if the tasks have one number of classes.
    """
    counts = np.array([len(str(classes).split()) for classes in data["target_classes"].values])
    known = np.unique(counts).tolist()
    if len(known) == 1:
        return {role: data}
    names = {count: "pairs" if count == PAIRS else f"{count}_classes" for count in known}
    return {f"{role}_{names[count]}": data.isel(run=counts == count) for count in known}


def in_words(runs):
    """'ResNet-18 on 2 classes of digits': the network, and what it is finetuned on."""
    return f"{network_in_words(runs)} on {target_in_words(runs)}"


def network_in_words(runs):
    """'ResNet-18'."""
    network = str(runs["network"].values[0])
    return value_labels(runs, "network").get(network, network)


def target_in_words(runs):
    """'2 classes of digits'."""
    count, images = len(str(runs["target_classes"].values[0]).split()), runs.attrs.get("images", "images")
    return f"{count} classes of {IMAGES.get(images, images)}"
