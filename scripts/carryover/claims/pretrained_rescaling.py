"""Rescaling a network pretrained on ImageNet before finetuning improves it (Fig. 7 of "Feature reuse …"), and does more
than another learning rate.

A convolution before a normalisation is scale-invariant: its output depends on its direction alone, which a step of
gradient descent at weights times f turns as one at a rate over f² does. A network rescaled by f is hence compared with
the same network at the rate η/f².
"""

import numpy as np

from carryover.claims.support import checks
from carryover.claims.support.image_tasks import by_task, in_words, most_common, seed_means
from carryover.claims.support.runs import Runs

SMALL = 0.01  # share of test images from which on there is a gain or a loss


@checks.group("App. F, Fig. 7", "share of test images")
def check(data, p):
    """Roles: `pairs` and `sets`, risks of networks finetuned with factors and at further learning rates, and from
    scratch, at one number of samples; `sizes`, with and without the factor at others; `probe`, linear probes."""
    found = [*_of_system("pairs", data["pairs"], p), *_of_system("sets", data["sets"], p)]
    sizes = Runs("sizes", data["sizes"]).where(protocol="finetuning")
    for n in sizes.sizes():
        runs, which = sizes.where(samples=n), in_words(data["sizes"])
        found.append((f"sizes_{n}_helps", _helps(p, f"{which}, with {n} training images"),
                      _difference(runs.where(rescale=p.rescale), runs.where(rescale=1.0)), SMALL))  # fmt: skip
    usual = most_common(data["probe"], "learning_rate")
    runs = Runs("probe", data["probe"]).where(rescale=1.0, learning_rate=usual).data
    before, after, tuned = (by_task(runs, name) for name in ("probe_start", "probe", "accuracy"))
    which = in_words(data["pairs"])
    return [
        *found,
        ("tuned_over_probe", f"Finetuning gives {which} a higher test accuracy than a linear classifier of its "
         "pretrained features, by at least 1 % of the images", seed_means(tuned - before), SMALL, checks.OWN),
        ("probe_improves", f"Finetuning raises the accuracy of a linear classifier of the features of {which} by at "
         "least 1 % of the images", seed_means(after - before), SMALL, checks.OWN),
    ]  # fmt: skip


def _of_system(role, risk, p):
    usual, which = most_common(risk, "learning_rate"), in_words(risk)
    tuned = Runs(role, risk).where(protocol="finetuning")
    plain = tuned.where(rescale=1.0)
    as_it_is, scaled = plain.where(learning_rate=usual), tuned.where(rescale=p.rescale)
    scratch = Runs(role, risk).where(protocol="single_task")
    yield f"{role}_helps", _helps(p, which), _difference(scaled, as_it_is), SMALL
    # To choose the rate by the same test images favours the networks that were not rescaled.
    rates = [plain.where(learning_rate=rate) for rate in plain.options("learning_rate")]
    best = max(rates, key=lambda runs: _difference(runs, as_it_is).mean())
    yield (
        f"{role}_over_rates", f"Multiplying all weights by {p.rescale:g} before finetuning gives {which} a higher test "
        f"accuracy than any of {len(rates)} learning rates without", _difference(scaled, best), 0.0, checks.OWN,
    )  # fmt: skip
    for factor in p.as_rates:
        rate = usual / factor**2
        apart = _difference(tuned.where(rescale=factor), plain.where(learning_rate=rate))
        yield (
            f"{role}_as_rate_{factor:g}", f"Multiplying all weights by {factor:g} before finetuning {which} at the "
            f"learning rate {usual:g} and finetuning without at {rate:g} lead to the same test accuracy, to within 1 % "
            "of the images", -np.sign(apart.mean()) * apart, -SMALL, checks.OWN,
            "share of test images, difference with a negative sign",
        )  # fmt: skip
    yield (
        f"{role}_over_scratch", f"Weights trained on ImageNet raise the test accuracy of {which} by at least 1 % of "
        "the images over training from scratch", _difference(as_it_is, scratch), SMALL, checks.OWN,
    )  # fmt: skip


def _helps(p, which):
    return f"Multiplying all weights by {p.rescale:g} before finetuning raises the test accuracy of {which} by at " \
           "least 1 % of the images"  # fmt: skip


def _difference(runs, others):
    """How much more accurate runs are than others, mean over the tasks of each seed."""
    return seed_means(by_task(others.data, "risk_final") - by_task(runs.data, "risk_final"))
