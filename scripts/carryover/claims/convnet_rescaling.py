"""Rescaling convolutional networks before finetuning improves them in all experiments: Fig. 7 of "Feature reuse …".

Controls: the same factor from scratch, on part of the weights, and against several learning rates.
"""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.image_tasks import (
    by_classes,
    by_task,
    in_words,
    most_common,
    network_in_words,
    seed_means,
)
from carryover.claims.support.runs import Runs, common_sizes
from carryover.errors import UserError

SMALL = 0.01  # share of test images from which on there is a gain or a loss
PARTS = {"weights": "those of all but normalisation", "readout": "those of the new last layer alone"}


@checks.group("App. F, Fig. 7", "share of test images")
def check(data, p):
    """Roles: `risk` of any experiments, each with networks finetuned with the factor and without, and from scratch.

    Tasks of two classes and of more are systems of their own. Statistics are shares of test images, differences between
    runs of the same seed, task and samples. Controls are checked if there are such networks.
    """
    if not data:
        raise UserError("this claim is about the risk of one experiment or more, but there is no role.")
    for role, risk in data.items():
        systems = by_classes(role, risk)
        for name, runs in systems.items():
            yield from _of_system(name, runs, p)
        if len(systems) == 2:
            gains = [_Gains(name, runs, p, "finetuning") for name, runs in systems.items()]
            means = [seed_means(gain.mean(gain.sizes())) for gain in gains]
            pairs, classes = (np.sign(mean.mean()) * mean for mean in means)
            yield (
                f"{role}_pairs_stronger", f"Multiplying all weights by {p.rescale:g} before finetuning changes the "
                f"test accuracy of {network_in_words(risk)} more on pairs of classes than on all classes",
                pairs - classes, 0.0, None, "share of test images, difference of the sizes of mean gains",
            )  # fmt: skip


def _of_system(role, risk, p):
    tuned, scratch = (_Gains(role, risk, p, protocol) for protocol in ("finetuning", "single_task"))
    by, which, sizes = f"Multiplying all weights by {p.rescale:g}", in_words(risk), tuned.sizes()
    # With any gain, however small, no number of seeds could decide that there is none.
    yield (
        f"{role}_all", f"{by} before finetuning raises the test accuracy of {which} by at least {100 * SMALL:g} % of "
        "the images, on average over numbers of training images", seed_means(tuned.mean(sizes)), SMALL,
    )  # fmt: skip
    controls = []
    if p.rescale in scratch.runs.options("rescale"):
        shared = common_sizes(tuned.plain, tuned.scaled(), scratch.plain, scratch.scaled())
        gain = tuned.mean(shared, trained=True) - scratch.mean(shared, trained=True)
        statement = f"{by} raises the test accuracy of {which} by more before finetuning than before training from " \
                    "scratch, among networks that can be trained"  # fmt: skip
        controls.append(("over_scratch", statement, gain))
    for part, meaning in PARTS.items():
        if part in tuned.runs.options("rescaled"):
            sizes = tuned.sizes(part)
            statement = f"{by} before finetuning raises the test accuracy of {which} by more than multiplying " \
                        f"{meaning}, at {_listed(sizes)} training images"  # fmt: skip
            controls.append((f"over_{part}", statement, tuned.mean(sizes) - tuned.mean(sizes, part)))
    plain = Runs(role, risk).where(protocol="finetuning", rescaled="all", rescale=1.0)
    by_rate = [plain.where(learning_rate=rate) for rate in plain.options("learning_rate")]
    if len(by_rate) > 1:
        sizes = common_sizes(tuned.scaled(), *by_rate)
        # To choose by the same test images favours the networks that were not rescaled.
        best = min((_mean_risk(runs, sizes) for runs in by_rate), key=lambda risks: risks.mean(axis=None))
        statement = f"{by} before finetuning gives {which} a higher test accuracy than any of {len(by_rate)} " \
                    f"learning rates without, at {_listed(sizes)} training images"  # fmt: skip
        controls.append(("over_rates", statement, best - _mean_risk(tuned.scaled(), sizes)))
    for name, statement, values in controls:
        yield f"{role}_{name}", statement, seed_means(values), 0.0, checks.OWN


def _listed(numbers):
    return ", ".join(f"{number:g}" for number in numbers)


def _mean_risk(runs, sizes):
    return sum(by_task(runs.where(samples=n).data, "risk_final") for n in sizes) / len(sizes)


class _Gains:
    """What a factor on the weights adds to the accuracy of a protocol, at the most common learning rate."""

    def __init__(self, role, risk, p, protocol):
        self.runs = Runs(role, risk).where(learning_rate=most_common(risk, "learning_rate"), protocol=protocol)
        self.rescale, self.plain = p.rescale, self.runs.where(rescaled="all", rescale=1.0)

    def scaled(self, part="all"):
        return self.runs.where(rescaled=part, rescale=self.rescale)

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
