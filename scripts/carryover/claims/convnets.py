"""Rescaling convolutional networks before finetuning improves them, and only then finetuning lowers the dimensionality:
Figs. 7 and 8d of "Feature reuse …" (B7), on networks of ours and on one pretrained on ImageNet (E9).

Controls are the same factor from scratch, on part of the weights, and against several learning rates. A convolution
before a normalisation is scale-invariant: its output depends on its direction alone, which a step of gradient descent
at weights times f turns as one at a rate over f² does. The pretrained network rescaled by f is hence compared with the
same network at the rate η/f².

Networks of one seed share what they were pretrained on, and its tasks share classes, so that two of its runs are not
independent; means over the tasks of each seed are. Seeds draw their tasks among all classes of a set of images.

Each check takes {role: xarray dataset over `run`} and returns {name: `Check`}; `claims.yaml` says what a name claims.
Tables of `Runs` have seeds as rows and the named coordinates as columns: `risks[a, b]` is a Series over seeds.
`rescale` is the factor on the weights, `rescaled` what it is on: `all` weights, those but normalisation (`weights`), or
the `readout`. Errors are shares of test images, `risk_final`.
"""

import numpy as np
import pandas as pd
from pydantic import PositiveFloat

from carryover.analysis.convnets import FACTOR, by_classes, in_words, most_common
from carryover.analysis.published_convnets import by_network
from carryover.analysis.run_tables import Runs, common, mean_over_samples, worst
from carryover.claims.support.checks import Check, checks, join_numbers
from carryover.config import plugins
from carryover.config.parameters import Condition, Model, parameter
from carryover.runs import conditions, select_runs

AS_RATES = (0.5, 0.25)  # factors that are compared with the learning rate over their square


class ConvnetRescaling(Model):
    factors: tuple[PositiveFloat, ...] = parameter((), "further factors on the weights, of which the gain is tested")


@plugins.check()
def convnet_rescaling(data, p: ConvnetRescaling):
    """Roles: `risk` of any experiments, each with networks finetuned with the factor and without, and from scratch; or
    the table of published accuracies.

    Tasks of two classes and of more are systems of their own. Statistics are shares of test images, differences between
    runs of the same seed, task and samples. Controls are checked if there are such networks. The bound of the gain
    itself is 1 %: with 0, no number of seeds could decide that there is none.
    """
    results: dict = {}
    for role, risk in by_network(data).items():
        gains = []
        for name, runs in by_classes(role, risk).items():
            network, target = in_words(runs)
            statistics = _rescaling_statistics(Runs(name, runs), p.factors)
            # The size of the gain, whichever its sign, for the claim that pairs of classes change more.
            gains.append(np.sign(statistics["all"].mean()) * statistics["all"])
            named = {f"{name}_{check}": values for check, values in statistics.items()}
            results |= checks(named, network=network, target=target)
        if len(gains) == 2:
            pairs, classes = gains
            results |= checks({f"{role}_pairs_stronger": pairs - classes}, network=network)
    return results


def _rescaling_statistics(runs, factors):
    """{check: values by seed, or `Check`}: the gain by rescaling finetuned networks by `FACTOR` at the most common
    learning rate, and over its controls, where `runs`, a `Runs`, has them; the gain alone by each of `factors`."""
    at_common_rate = runs.where(learning_rate=most_common(runs.data, "learning_rate"))
    errors, converged = (at_common_rate.table(name, "protocol", "rescaled", "rescale", "samples", "task")
                         for name in ("risk_final", "converged"))  # fmt: skip
    scaled = errors["finetuning", "all", FACTOR]
    statistics = {"all": _gain(errors["finetuning", "all", 1.0], scaled)}
    for factor in factors:
        gain = _gain(errors["finetuning", "all", 1.0], errors["finetuning", "all", factor])
        statistics[f"by_{factor:g}"] = Check(gain, facts={"factor": factor})
    if ("single_task", "all", FACTOR) in errors:
        # Where training from scratch fails at the factor, its loss would count in favour of finetuning.
        finished = errors.where(converged == 1)
        tuned_gain, scratch_gain = (
            np.subtract(*common(finished[protocol, "all", 1.0], finished[protocol, "all", FACTOR]))
            for protocol in ("finetuning", "single_task")
        )
        statistics["over_scratch"] = _gain(tuned_gain, scratch_gain)
    for part in ("weights", "readout"):
        if ("finetuning", part, FACTOR) in errors:
            statistics[f"over_{part}"] = _over_best([errors["finetuning", part, FACTOR]], scaled)
    unscaled = runs.where(protocol="finetuning", rescaled="all", rescale=1.0)
    by_rate = unscaled.table("risk_final", "learning_rate", "samples", "task")
    rates = unscaled.options("learning_rate")
    if len(rates) > 1:
        statistics["over_rates"] = _over_best([by_rate[rate] for rate in rates], scaled)
    return statistics


def _gain(first, second):
    """(seed,) first table, of errors or gains, less the second, both by seed (rows), samples and task (columns).

    Mean over the tasks that both tables have at every number of samples: an unpaired task would not cancel."""
    first, second = common(first, second)
    return mean_over_samples(first - second, first.columns.unique("samples")).mean(axis=1)


def _over_best(controls, scaled):
    """A `Check` of how many fewer errors rescaled networks make than the best control. Test images choose it, in the
    control's favour. `scaled` and each control are tables as `_gain` takes them."""
    scaled, *controls = common(scaled, *controls)
    best = min(controls, key=lambda errors: errors.mean(axis=None))
    return Check(
        _gain(best, scaled), facts={"sizes": join_numbers(best.columns.unique("samples")), "rates": len(controls)}
    )


class ConvnetStages(Model):
    stages: tuple[str, ...] = parameter(("layer3", "layer4"), "stages that the claims are about, each for itself")
    factors: tuple[PositiveFloat, ...] = parameter((), "factors on the weights; empty for all below 1")
    network: str = parameter("resnet18", "network of the published table")
    only: tuple[Condition, ...] = parameter((), "conditions on the runs, as coordinate=value", coordinate=True)


@plugins.check(data=["stages"])
def convnet_stages(data, p: ConvnetStages):
    """Role: `stages` of networks finetuned with factors below 1, and with 1, or the table of published dimensions. PR:
    participation ratio of a stage's outputs for images of the task; ENSD: effective number of dimensions that start and
    end share."""
    stages = by_network(data)[f"stages_{p.network}" if isinstance(data["stages"], pd.DataFrame) else "stages"]
    common_rate = most_common(stages, "learning_rate")
    runs = select_runs(stages, protocol="finetuning", **conditions(p.only)).to_dataframe().reset_index()
    runs["pr_ratio"] = runs["participation_ratio"] / runs["participation_ratio_start"]
    # At 0 all dimensions that remain are among those before finetuning.
    runs["distance"] = (runs["ensd"] / runs["participation_ratio"] - 1).abs()
    # Means over the tasks of each seed, by seed (rows) and (stage, factor) or (stage, learning rate).
    smaller = runs["rescale"].isin(p.factors) if p.factors else runs["rescale"] < 1
    rescaled = runs[(runs["learning_rate"] == common_rate) & smaller]
    pr_ratio, distance = (rescaled.pivot_table(name, "seed", ["stage", "rescale"]) for name in ("pr_ratio", "distance"))
    unscaled = runs[runs["rescale"] == 1].pivot_table("pr_ratio", "seed", ["stage", "learning_rate"])
    higher = [rate for rate in unscaled.columns.unique("learning_rate") if rate > common_rate]
    results: dict = {}
    for stage in p.stages:
        statistics = {
            f"falls_{stage}": worst(1 - pr_ratio[stage]),
            f"inherited_{stage}": worst(distance[stage], "below"),
            f"kept_{stage}": unscaled[stage, common_rate],
        }
        if higher:
            facts = {"times": higher[-1] / common_rate}
            statistics[f"kept_rates_{stage}"] = Check(worst(unscaled[stage][higher]), facts=facts)
        results |= checks(
            statistics, stage=stage, factors=join_numbers(p.factors) or "less than 1, at every such factor"
        )
    return results


@plugins.check(data=["pairs", "sets", "sizes", "probe"])
def pretrained_rescaling(data):
    """Roles: `pairs` and `sets`, risks of networks finetuned with factors and at further learning rates, and from
    scratch, at one number of samples; `sizes`, with and without the factor at others; `probe`, linear probes."""
    which = {role: " on ".join(in_words(data[role])) for role in ("pairs", "sets", "sizes")}
    results: dict = {}
    for role in ("pairs", "sets"):
        common_rate = most_common(data[role], "learning_rate")
        errors = Runs(role, data[role]).table("risk_final", "protocol", "rescale", "learning_rate", "samples", "task")
        by_rate, scaled = errors["finetuning", 1.0], errors["finetuning", FACTOR, common_rate]
        rates = by_rate.columns.unique("learning_rate")
        statistics = {
            f"{role}_helps": _gain(by_rate[common_rate], scaled),
            f"{role}_over_rates": _over_best([by_rate[rate] for rate in rates], scaled),
            f"{role}_over_scratch": _gain(errors["single_task", 1.0, common_rate], by_rate[common_rate]),
        }
        for factor in AS_RATES:
            rate = common_rate / factor**2
            difference = _gain(by_rate[rate], errors["finetuning", factor, common_rate])
            facts = {"factor": factor, "usual": common_rate, "rate": rate}
            statistics[f"{role}_as_rate_{factor:g}"] = Check(difference, facts=facts)
        results |= checks(statistics, which=which[role])

    sizes = Runs("sizes", data["sizes"]).where(protocol="finetuning")
    errors = sizes.table("risk_final", "samples", "rescale", "task")
    for n in sizes.options("samples"):
        gain = (errors[n, 1.0] - errors[n, FACTOR]).mean(axis=1)
        results |= checks({f"sizes_{n}_helps": gain}, which=f"{which['sizes']}, with {n} training images")
    common_rate = most_common(data["probe"], "learning_rate")
    runs = Runs("probe", data["probe"]).where(rescale=1.0, learning_rate=common_rate)
    before, after, tuned = (runs.table(name, "task") for name in ("probe_start", "probe", "accuracy"))
    probed = {"tuned_over_probe": (tuned - before).mean(axis=1), "probe_improves": (after - before).mean(axis=1)}
    return results | checks(probed, which=which["pairs"])
