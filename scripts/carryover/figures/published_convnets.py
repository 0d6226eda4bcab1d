"""The authors' networks on CIFAR-100 and ours on natural images, in the same panels (Figs. 2h and 8d of feature reuse).

A figure takes {role: xarray dataset over `run`, or a published table} and its options `p`, and returns a Matplotlib
figure. Each network of a published table is a system of its own.
"""

import matplotlib.pyplot as plt
import pandas as pd
from pydantic import PositiveFloat, PositiveInt

from carryover.analysis.convnets import most_common
from carryover.analysis.published_convnets import by_network
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, networks, panels
from carryover.figures.titled import Titled
from carryover.runs import run_mask, select_runs

LOOKS = {"resnet18": {"color": "k", "marker": "o"}, "vit": {"color": "tab:orange", "marker": "s"}}
"""{published network: style}."""
OURS = {"color": "tab:blue", "marker": "D"}
DEFINITIONS: dict = {"": (", centred", {}), "_released": (", not centred", {"linestyle": "--", "mfc": "white"})}
"""{ending of variables: (words, style)}: definitions of dimensions."""
PROTOCOLS = {"finetuning": "PT+FT", "single_task": "STL", "multi_task": "MTL"}


class ConvnetAccuracies(Titled):
    rescale: tuple[PositiveFloat, ...] = parameter((0.25,), "factors that are shown besides no rescaling")


@plugins.figure()
def convnet_accuracies(data, p: ConvnetAccuracies):
    """Test accuracy from scratch, of multi-task learning and of finetuning, against samples (Fig. 2h).

    A panel for each network and set of images, from all roles that have it, `risk` datasets or the published table.
    """
    systems: dict = {}
    for runs in by_network(data).values():
        systems.setdefault((str(runs["network"].values[0]), runs.attrs["images"]), []).append(runs)
    fig, axes = plt.subplots(1, len(systems), figsize=(3.2 * len(systems) + 1, 4.4), sharey=True, squeeze=False)
    for ax, group in zip(axes[0], systems.values(), strict=True):
        for runs in group:
            for protocol, own, color in panels.assign_colors(runs, "protocol"):
                for factor in (1.0, *p.rescale):
                    shown = own.isel(run=run_mask(own, rescale=factor))
                    if shown.sizes["run"] and (factor == 1 or protocol == "finetuning"):
                        name = PROTOCOLS[protocol] + f", {networks.factor_in_words(factor)}" * (factor != 1)
                        style = {"linestyle": "--", "mfc": "white"} if factor != 1 else {}
                        networks.accuracies(ax, shown, "samples", name, color=color, **style)
        ax.set_title(_label(group[0]).replace(" (", "\n("), fontsize="small")
        ax.set_xlabel("training images of the task")
        layout.name_ticks(ax, panels.values(group[0], "samples"), 2)
    axes[0, 0].set_ylabel(networks.ACCURACY)
    return layout.finish(fig, p.title, networks.INTERVALS)


@plugins.figure()
def convnet_factors(data, p: Titled):
    """Gain in accuracy by rescaling the weights before finetuning, against samples (Figs. 2h and 7).

    A panel for each factor, and a line for each system. Each role is a `risk` dataset, one system, or the published
    table, a system for each of its networks. Gains are differences between runs of the same seed, task and samples.
    """
    systems = []  # the finetuned runs of each, at the learning rate that most have
    for tuned in (select_runs(runs, protocol="finetuning", rescaled="all") for runs in by_network(data).values()):
        systems.append(select_runs(tuned, learning_rate=most_common(tuned, "learning_rate")))
    factors = sorted({factor for runs in systems for factor in panels.values(runs, "rescale")} - {1.0})
    fig, axes = plt.subplots(1, len(factors), figsize=(2.6 * len(factors) + 0.8, 4.4), sharey=True, squeeze=False)
    for ax, factor in zip(axes[0], factors, strict=True):
        ax.axhline(0, **layout.ZERO)
        for place, runs in enumerate(systems):
            scaled = runs.isel(run=run_mask(runs, rescale=factor))
            if scaled.sizes["run"]:
                plain = networks.accuracy_table(select_runs(runs, rescale=1.0), "samples")
                gains = networks.accuracy_table(scaled, "samples") - plain
                networks.mean_points(ax, gains.columns * 1.05 ** (place - 1), gains, _label(runs), **_look(runs))
        ax.set(title=f"rescaled by {factor:g}", xlabel="training images of the task")
        layout.name_ticks(ax, panels.values(systems[0], "samples"), 1.9)
        ax.tick_params(axis="x", rotation=60)
    axes[0, 0].set_ylabel(networks.GAIN)
    return layout.finish(fig, p.title, networks.INTERVALS, columns=1)


class ConvnetDimensions(Titled):
    samples: PositiveInt = parameter(1000, "training images of the task")
    network: str = parameter("resnet18", "network of the published table")


@plugins.figure()
def convnet_dimensions(data, p: ConvnetDimensions):
    """How many dimensions finetuning leaves of those before, and how many of them it inherits, by stage and factor
    (Fig. 8d).

    A column for each factor, a line for each role, a `stages` dataset or the published table, at one number of samples;
    dashed with dimensions by the definition of the released code, if a dataset has these besides ours.
    """
    systems = [
        select_runs(runs, protocol="finetuning", samples=p.samples)
        for role, runs in by_network(data).items()
        if role.endswith(f"_{p.network}") or not isinstance(data.get(role.rpartition("_")[0]), pd.DataFrame)
    ]
    factors = sorted({factor for runs in systems for factor in panels.values(runs, "rescale")})
    fig, axes = plt.subplots(2, len(factors), figsize=(2.3 * len(factors) + 0.8, 6.4), sharex="col", sharey="row",
                             squeeze=False)  # fmt: skip
    for (change, inherited), factor in zip(axes.T, factors, strict=True):
        for ax in (change, inherited):
            ax.axhline(1, **layout.ZERO)
            ax.tick_params(axis="x", rotation=90)
        for place, runs in enumerate(systems):
            own = runs.isel(run=run_mask(runs, rescale=factor))
            if not own.sizes["run"]:
                continue
            for kind, (words, style) in DEFINITIONS.items():
                if f"ensd{kind}" in own:
                    after, shift = own[f"participation_ratio{kind}"], 0.12 * (place + bool(kind) / 2)
                    label = _label(own) + words * ("ensd_released" in own)
                    own = own.assign(change=after / own[f"participation_ratio_start{kind}"],
                                     inherited=own[f"ensd{kind}"] / after)  # fmt: skip
                    networks.by_stage(change, own, "change", shift, label, **_look(runs) | style)
                    networks.by_stage(inherited, own, "inherited", shift, label, **_look(runs) | style)
        names = max((runs["stage"].values for runs in systems), key=len)  # published ones have outputs, too
        inherited.set_xticks(range(len(names)), names)
        change.set(xlabel="", title=networks.factor_in_words(factor))
    axes[0, 0].set_ylabel("PR after / PR before")
    axes[1, 0].set_ylabel("ENSD / PR after")
    return layout.finish(fig, p.title, f"n = {p.samples:g}", networks.INTERVALS, columns=1)


def _label(runs):
    """'the authors' ResNet-18, 2 classes of CIFAR-100 (pretrained on 98 others; 50 seeds × 1 task)'."""
    network, target, source = networks.system_in_words(runs)
    whose = "the authors' " * runs.attrs.get("published", 0)
    return f"{whose}{network}, {target} ({source}; {networks.units_in_words(runs)})"


def _look(runs):
    return LOOKS[str(runs["network"].values[0])] if runs.attrs.get("published") else OURS
