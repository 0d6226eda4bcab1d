"""Rescaling convolutional networks before finetuning improves them in all experiments: Fig. 7 of "Feature reuse …".

Controls: the same factor from scratch, on part of the weights, and against several learning rates.
"""

import numpy as np

from carryover.claims.support.checks import Check, checks
from carryover.claims.support.image_tasks import (
    by_classes,
    by_task,
    most_common,
    network_in_words,
    seed_means,
    target_in_words,
)
from carryover.claims.support.runs import Runs, common_sizes

FACTOR = 0.5
PARTS = ("weights", "readout")


def check(data, p):
    """Roles: `risk` of any experiments, each with networks finetuned with the factor and without, and from scratch.

    Tasks of two classes and of more are systems of their own. Statistics are shares of test images, differences between
    runs of the same seed, task and samples. Controls are checked if there are such networks. The bound of the gain
    itself is 1 %: with 0, no number of seeds could decide that there is none.
    """
    found = {}
    for role, risk in data.items():
        systems = by_classes(role, risk)
        for name, runs in systems.items():
            values = {f"{name}_{one}": values for one, values in _of_system(Runs(name, runs)).items()}
            found |= checks(values, network=network_in_words(risk), target=target_in_words(runs))
        if len(systems) == 2:
            gains = [_Gains(Runs(name, runs), "finetuning") for name, runs in systems.items()]
            means = [seed_means(gain.mean(gain.sizes())) for gain in gains]
            pairs, classes = (np.sign(mean.mean()) * mean for mean in means)
            found |= checks({f"{role}_pairs_stronger": pairs - classes}, network=network_in_words(risk))
    return found


def _of_system(runs):
    tuned, scratch = _Gains(runs, "finetuning"), _Gains(runs, "single_task")
    found = {"all": seed_means(tuned.mean(tuned.sizes()))}
    if FACTOR in scratch.runs.options("rescale"):
        shared = common_sizes(tuned.plain, tuned.scaled(), scratch.plain, scratch.scaled())
        gain = tuned.mean(shared, trained=True) - scratch.mean(shared, trained=True)
        found["over_scratch"] = seed_means(gain)
    for part in PARTS:
        if part in tuned.runs.options("rescaled"):
            sizes = tuned.sizes(part)
            values = seed_means(tuned.mean(sizes) - tuned.mean(sizes, part))
            found[f"over_{part}"] = Check(values, facts={"sizes": _listed(sizes)})
    plain = runs.where(protocol="finetuning", rescaled="all", rescale=1.0)
    by_rate = [plain.where(learning_rate=rate) for rate in plain.options("learning_rate")]
    if len(by_rate) > 1:
        sizes = common_sizes(tuned.scaled(), *by_rate)
        # To choose by the same test images favours the networks that were not rescaled.
        best = min((_mean_risk(one, sizes) for one in by_rate), key=lambda risks: risks.mean(axis=None))
        values = seed_means(best - _mean_risk(tuned.scaled(), sizes))
        found["over_rates"] = Check(values, facts={"sizes": _listed(sizes), "rates": len(by_rate)})
    return found


def _listed(numbers):
    return ", ".join(f"{number:g}" for number in numbers)


def _mean_risk(runs, sizes):
    return sum(by_task(runs.where(samples=n).data, "risk_final") for n in sizes) / len(sizes)


class _Gains:
    """What a factor on the weights adds to the accuracy of a protocol, at the most common learning rate."""

    def __init__(self, runs, protocol):
        self.runs = runs.where(learning_rate=most_common(runs.data, "learning_rate"), protocol=protocol)
        self.plain = self.runs.where(rescaled="all", rescale=1.0)

    def scaled(self, part="all"):
        return self.runs.where(rescaled=part, rescale=FACTOR)

    def sizes(self, part="all"):
        """Numbers of samples, rising, that there are with the factor and without."""
        return common_sizes(self.plain, self.scaled(), self.scaled(part))

    def mean(self, sizes, part="all", trained=False):
        """Mean gain over numbers of samples, seeds by tasks; NaN where a run lacks.

        With `trained`, NaN also where training stopped before its tolerance, with or without the factor.
        """
        gains = []
        for n in sizes:
            plain, scaled = (runs.where(samples=n).data for runs in (self.plain, self.scaled(part)))
            gain = by_task(plain, "risk_final") - by_task(scaled, "risk_final")
            done = (by_task(plain, "converged") == 1) & (by_task(scaled, "converged") == 1)
            gains.append(gain.where(done) if trained else gain)
        return sum(gains) / len(sizes)
