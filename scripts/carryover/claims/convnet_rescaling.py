"""Rescaling convolutional networks before finetuning makes them better in all experiments: Fig. 7 of "Feature reuse …"
(B6), with what the same factor does from scratch, and on part of the weights."""

import numpy as np

from carryover.analysis import intervals
from carryover.analysis.by_task import seed_means, table, usual
from carryover.analysis.image_tasks import by_classes, in_words, network_in_words
from carryover.analysis.intervals import OWN
from carryover.analysis.runs import Runs, common_sizes
from carryover.errors import UserError

PARTS = {"weights": "those of all but normalisation", "readout": "those of the new last layer alone"}


@intervals.claims("App. F, Fig. 7", "share of test images")
def check(data, p):
    """Roles: `risk` of any experiments, each with networks finetuned with the factor and without, and from scratch; of
    a role, tasks of two classes and of more are systems of their own. Statistics are shares of test images, differences
    between runs of the same seed, task and samples. The claims that compare the factor with itself, from scratch or on
    part of the weights, are made where there are such networks.

    Where a role has tasks of two numbers of classes, their gains are compared.

    Raises UserError where there is no role, or one has no such runs.
    """
    if not data:
        raise UserError("this claim is about the risk of one experiment or more, but there is no role.")
    claims = []
    for role, risk in data.items():
        systems = by_classes(role, risk)
        for name, runs in systems.items():
            claims += _of_system(name, runs, p)
        if len(systems) == 2:
            claims.append(_pairs(role, risk, systems, p))
    return claims


def _pairs(role, risk, systems, p):
    """That the factor changes more on two classes than on more."""
    tuned = [_usual(name, runs, p, "finetuning") for name, runs in systems.items()]
    gains = [seed_means(one.mean(one.sizes())) for one in tuned]
    pairs, classes = (np.sign(gain.mean()) * gain for gain in gains)
    statement = f"Multiplying all weights by {p.rescale:g} before finetuning changes the test accuracy of " \
                f"{network_in_words(risk)} more on pairs of classes than on all classes"  # fmt: skip
    return (f"{role}_pairs_stronger", statement, pairs - classes, 0.0, None,
            "share of test images, difference of the sizes of mean gains")  # fmt: skip


def _usual(role, risk, p, protocol):
    runs = Runs(role, risk).where(learning_rate=usual(risk, "learning_rate"), protocol=protocol)
    return _Gains(runs, p.rescale)


def _of_system(role, risk, p):
    every, which = Runs(role, risk), in_words(risk)
    tuned, scratch = (_usual(role, risk, p, protocol) for protocol in ("finetuning", "single_task"))
    sizes = tuned.sizes()
    by = f"by {p.rescale:g}"
    points = f"{100 * p.small:g} % of the images"
    # With any gain, however small, no number of seeds could decide that there is none.
    raises = f"Multiplying all weights {by} before finetuning raises the test accuracy of {which} by at least {points}"
    ours = [*_controls(tuned, scratch, by, which), *_over_rates(every, tuned, p, which)]
    told = [("all", f"{raises}, on average over numbers of training images", seed_means(tuned.mean(sizes)), p.small)]
    told += [(name, statement, seed_means(values), 0.0, OWN) for name, statement, values in ours]
    return [(f"{role}_{name}", *rest) for name, *rest in told]


def _controls(tuned, scratch, by, which):
    """What the same factor gains from scratch, and on part of the weights, where there are such runs."""
    claims = []
    if tuned.rescale in scratch.runs.options("rescale"):
        shared = common_sizes(tuned.plain, tuned.scaled(), scratch.plain, scratch.scaled())
        gain = tuned.mean(shared, trained=True) - scratch.mean(shared, trained=True)
        statement = f"Multiplying all weights {by} raises the test accuracy of {which} by more before finetuning " \
                    "than before training from scratch, among networks that can be trained"  # fmt: skip
        claims.append(("over_scratch", statement, gain))
    for part, meaning in PARTS.items():
        if part in tuned.runs.options("rescaled"):
            sizes = tuned.sizes(part)
            gain = tuned.mean(sizes) - tuned.mean(sizes, part)
            statement = f"Multiplying all weights {by} before finetuning raises the test accuracy of {which} by more " \
                        f"than multiplying {meaning}, at {_listed(sizes)} training images"  # fmt: skip
            claims.append((f"over_{part}", statement, gain))
    return claims


def _over_rates(every, tuned, p, which):
    """The factor against the learning rate that is best without it, where networks were finetuned at several."""
    plain = every.where(protocol="finetuning", rescaled="all", rescale=1.0)
    rates = plain.options("learning_rate")
    if len(rates) == 1:
        return []
    sizes = common_sizes(tuned.scaled(), *(plain.where(learning_rate=rate) for rate in rates))
    without = [_mean_risk(plain.where(learning_rate=rate), sizes) for rate in rates]
    # To choose by the same test images favours the networks that were not rescaled.
    best = min(without, key=lambda risks: risks.mean(axis=None))
    statement = f"Multiplying all weights by {p.rescale:g} before finetuning gives {which} a higher test accuracy " \
                f"than any of {len(rates)} learning rates without, at {_listed(sizes)} training images"  # fmt: skip
    return [("over_rates", statement, best - _mean_risk(tuned.scaled(), sizes))]


def _listed(numbers):
    return ", ".join(f"{number:g}" for number in numbers)


def _mean_risk(runs, sizes):
    return sum(table(runs.where(samples=n).data, "risk_final") for n in sizes) / len(sizes)


class _Gains:
    """Accuracy with a factor on the weights above that without, of the runs of a protocol, seeds by tasks."""

    def __init__(self, runs, rescale):
        self.runs, self.rescale = runs, rescale
        self.plain = runs.where(rescaled="all", rescale=1.0)

    def scaled(self, part="all"):
        return self.runs.where(rescaled=part, rescale=self.rescale)

    def sizes(self, part="all"):
        """Numbers of samples, rising, that there are with the factor and without."""
        return common_sizes(self.plain, self.scaled(), self.scaled(part))

    def mean(self, sizes, part="all", trained=False):
        """Mean gain over numbers of samples; NaN where a run lacks.

        `trained`: NaN, too, where training with or without the factor stopped short of its training loss.
        """
        return sum(self._gain(n, part, trained) for n in sizes) / len(sizes)

    def _gain(self, samples, part, trained):
        old, new = (runs.where(samples=samples).data for runs in (self.plain, self.scaled(part)))
        gain = table(old, "risk_final") - table(new, "risk_final")
        done = (table(old, "converged") == 1) & (table(new, "converged") == 1)
        return gain.where(done) if trained else gain
