"""Convolutional networks finetuned on tasks of a few images (Fig. 7 and 8d of feature reuse).

A figure takes {role: xarray dataset over `run`} and its options `p`, and returns a Matplotlib figure. PT+FT is
finetuning, STL single-task and MTL multi-task learning.
Helpers take `runs`, datasets over `run` with the error `risk_final`, a share of test images. Intervals are over seeds,
of means over tasks: runs of one seed share their pretraining.
"""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pydantic import PositiveFloat, PositiveInt

from carryover.analysis.convnets import FACTOR, by_classes, in_words, most_common
from carryover.config import plugins
from carryover.config.parameters import parameter
from carryover.figures.drawing import layout, networks, panels
from carryover.figures.titled import Titled
from carryover.runs import run_mask, select_runs

LEAST_GAIN = -16.0  # that has a place on the axis of gains of a network from ImageNet


def _gain_rows(ax, rows, label):
    """Draw a row for each {name: (gain, a Series by seed; runs; marker)}: mean and interval; squares are hollow."""
    ax.axvline(0, **layout.ZERO)
    means = panels.means({name: gains for name, (gains, *_) in rows.items()}).T
    for place, ((mean, *ends), (_, runs, marker)) in enumerate(zip(means, rows.values(), strict=True)):
        [color] = panels.colors("protocol", runs["protocol"].values[:1])
        ax.plot(ends, [place, place], color=color, linewidth=1)
        ax.plot(mean, place, marker, color=color, markerfacecolor="none" if marker == "s" else color)
        networks.cross_unfinished(ax, mean, place, runs)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel=label)


class ConvnetRescaling(Titled):
    rescale: PositiveFloat = parameter(0.5, "factor on the weights that is compared with no rescaling")


@plugins.figure()
def convnet_rescaling(data, p: ConvnetRescaling):
    """Whether convolutional networks are finetuned better with their weights rescaled before (Fig. 7).

    A column for each role, a `risk` dataset, and each number of classes of its tasks: test accuracy, and below it the
    gain by the factor, against samples, at the most common learning rate. Gains are differences between runs of the
    same seed, task and samples.
    """
    protocols = ("finetuning", "single_task", "multi_task")
    systems = [runs for role, risk in data.items() for runs in by_classes(role, risk).values()]
    size = (max(7.0, 2.5 * len(systems) + 0.8), 5.6)
    fig, axes = plt.subplots(2, len(systems), figsize=size, sharex="col", squeeze=False)
    for (above, below), risk in zip(axes.T, systems, strict=True):
        runs = select_runs(risk, learning_rate=most_common(risk, "learning_rate"), rescaled="all")
        above.sharey(axes[0, 0])
        classes = len(str(runs["target_classes"].values[0]).split())
        above.axhline(100 / classes, color="0.3", linestyle=":", linewidth=1, label="chance")
        below.axhline(0, **layout.ZERO)
        colors = dict(zip(protocols, panels.colors("protocol", protocols), strict=True))
        for place, (protocol, factor) in enumerate(product(protocols, (1.0, p.rescale))):
            shown = runs.isel(run=run_mask(runs, protocol=protocol, rescale=factor))
            if not shown.sizes["run"]:
                continue
            name, shift = panels.name(runs, "protocol", protocol), 2 ** (0.07 * (place - 2))
            look = {"color": colors[protocol], "lw": 1.6 if protocol == "finetuning" else 0.9}
            style = {"linestyle": "--", "mfc": "white"} if factor != 1 else {}
            label = f"{name}, rescaled by {factor:g}" if factor != 1 else name
            networks.accuracies(above, shown, "samples", label, shift, **style, **look)
            if factor != 1 and protocol != "multi_task":
                gains = networks.accuracy_table(shown, "samples") - networks.accuracy_table(
                    select_runs(runs, protocol=protocol, rescale=1.0), "samples"
                )
                networks.mean_points(below, gains.columns * shift, gains, name, **look)
        above.set_title(
            "{}\n{},\n{}\n({})".format(*networks.system_in_words(runs), networks.units_in_words(runs)), fontsize="small"
        )
        below.set_xlabel("training images of the task")
        layout.name_ticks(below, panels.values(select_runs(runs, protocol="finetuning"), "samples"), 2)
    axes[0, 0].set(ylabel=networks.ACCURACY, ylim=(0, 103))
    axes[1, 0].set_ylabel(f"gain by the factor {p.rescale:g}\n(percentage points, paired)")
    return layout.finish(fig, p.title, networks.INTERVALS, "scales of gains differ")


class ConvnetControls(Titled):
    learning_rate: PositiveFloat = parameter(0.01, "step of gradient descent where it is not compared")
    samples: PositiveInt = parameter(8, "training images of the task")


@plugins.figure(data=["risk", "trajectory"])
def convnet_controls(data, p: ConvnetControls):
    """Which part of the gain by rescaling is due to which weights, to the learning rate and to the length of training.

    Panels a–c. Roles: `risk` and `trajectory` of one experiment, whose networks were finetuned with the factor on parts
    of their weights and at several learning rates.
    """
    risk, trajectory = (select_runs(data[role], samples=p.samples) for role in ("risk", "trajectory"))
    tuned = select_runs(risk, protocol="finetuning")
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 4.4), width_ratios=(1.1, 0.8, 1.1))

    # a: gain by what the factor is on, and by the learning rate.
    def gain(protocol, rate, part="all"):
        """(gain, runs, marker), as `_gain_rows` takes them: the gain in percentage points, a Series over seeds, by the
        factor on the weights `part`, and the rescaled runs."""
        same = select_runs(risk, protocol=protocol, learning_rate=rate)
        scaled, plain = select_runs(same, rescale=FACTOR, rescaled=part), select_runs(same, rescale=1.0, rescaled="all")
        return networks.accuracy_table(scaled) - networks.accuracy_table(plain), scaled, "o"

    usual = p.learning_rate
    parts = panels.values(select_runs(tuned, rescale=FACTOR, learning_rate=usual), "rescaled")
    rates = [rate for rate in panels.values(tuned, "learning_rate")[::-1] if rate != usual]
    rows = {f"PT+FT, {panels.name(risk, 'rescaled', part)}": gain("finetuning", usual, part) for part in parts}
    rows |= {f"PT+FT, all weights,\nlearning rate {rate:g}": gain("finetuning", rate) for rate in rates}
    rows["STL, all weights"] = gain("single_task", usual)
    _gain_rows(left, rows, f"gain by the factor {FACTOR:g} (percentage points, paired)")
    left.set_title("a  Gain by what is rescaled")

    # b: accuracy of finetuning against the learning rate, with and without the factor.
    whole = select_runs(tuned, rescaled="all")
    for factor, runs, color in panels.assign_colors(whole, "rescale"):
        if factor in (FACTOR, 1.0):
            label, shift = f"PT+FT, {networks.factor_in_words(factor)}", 1.03 if factor == 1 else 0.97
            networks.accuracies(middle, runs, "learning_rate", label, shift, color=color)
    layout.name_ticks(middle, panels.values(whole, "learning_rate"))
    middle.set(xlabel="learning rate", ylabel=networks.ACCURACY, title="b  PT+FT by learning rate")

    # c: mean accuracy at every step at which some run was tested, and its interval at the last. Accuracies of a run are
    # interpolated linearly in the logarithm of the steps, and keep their last value after its end.
    courses = select_runs(trajectory, learning_rate=p.learning_rate, rescaled="all")
    words = {"finetuning": "PT+FT", "single_task": "STL"}
    shown = panels.curves_by(
        courses, "rescale", "protocol", protocol=[*words],
        label=lambda factor, name: f"{words[name]}, {networks.factor_in_words(factor)}",
    )  # fmt: skip
    for condition, label, style in shown:
        runs = select_runs(courses, **condition)
        frame = runs[["time", "risk_curve"]].to_dataframe()
        frame = frame.assign(steps=np.log(np.rint(frame["time"] / frame["learning_rate"])))
        table = frame.pivot_table("risk_curve", ["seed", "task"], "steps").interpolate("index", axis=1)
        accuracy = 100 * (1 - table.groupby("seed").mean())
        right.plot(np.exp(accuracy.columns), accuracy.mean(), label=label, **style)
        last = accuracy.iloc[:, -1:]
        networks.mean_points(right, np.exp(last.columns), last, possible=networks.PERCENT, color=style["color"])
    right.set(
        xscale="log", xlabel="steps of gradient descent", ylabel=networks.ACCURACY, title="c  Accuracy along training"
    )
    layout.plain_decades(right.xaxis)
    notes = f"n = {p.samples}", networks.units_in_words(risk), networks.INTERVALS, "c: ended runs keep their last value"
    return layout.finish(fig, p.title, *notes)


@plugins.figure(data=["pairs", "sets", "sizes"])
def pretrained_rescaling(data, p: Titled):
    """The gain by rescaling a network pretrained on ImageNet before finetuning, and its controls: other learning rates
    without rescaling, and training from scratch (Fig. 7).

    Panels a–c. Roles: `pairs` and `sets`, networks finetuned with several factors, and the controls; `sizes`, networks
    finetuned with and without the factor at other numbers of samples.
    """
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.2), width_ratios=(1, 1, 0.8))
    for ax, letter, role in zip(axes, "ab", ("pairs", "sets"), strict=False):
        risk, samples = data[role], panels.values(data[role], "samples")[0]
        ax.set_title(f"{letter}  {in_words(risk)[1]}, n = {samples}\n({networks.units_in_words(risk)})")
        usual = most_common(risk, "learning_rate")
        tuned, scratch = (select_runs(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
        plain = select_runs(tuned, rescale=1.0)
        # (order, name, runs, marker). Rescaling by f acts like multiplying the learning rate by 1/f², so both kinds of
        # runs are sorted by that multiple.
        kinds = [(factor**-2, f"rescaled by {factor:g}", runs, "o")
                 for factor, runs, _ in panels.assign_colors(tuned, "rescale") if factor != 1]  # fmt: skip
        kinds += [(rate / usual, f"learning rate × {rate / usual:g}", runs, "s")
                  for rate, runs, _ in panels.assign_colors(plain, "learning_rate") if rate != usual]  # fmt: skip
        kinds = [*sorted(kinds, key=lambda kind: -kind[0]), (None, "from scratch", scratch, "o")]
        accuracy = networks.accuracy_table(select_runs(plain, learning_rate=usual))
        rows = {name: (networks.accuracy_table(runs) - accuracy, runs, marker) for _, name, runs, marker in kinds}
        _gain_rows(ax, rows, networks.GAIN)
        # A loss far beyond the others would squeeze them: the axis is cut, and the mean is written at its left end.
        ax.set_xlim(LEAST_GAIN, None)
        ax.xaxis.set_major_locator(plt.MultipleLocator(5))
        for place, (gains, *_) in enumerate(rows.values()):
            if (mean := float(np.mean(gains))) < LEAST_GAIN:
                ax.annotate(f"← {mean:.0f}".replace("-", "−"), (LEAST_GAIN + 0.5, place), va="center")

    # c: gain by the factor against the number of training images.
    gains = []
    for risk in (data["sizes"], data["pairs"]):
        tuned = select_runs(risk, protocol="finetuning", learning_rate=most_common(risk, "learning_rate"))
        accuracy = networks.accuracy_table(tuned, "rescale", "samples")
        gains.append(accuracy[FACTOR] - accuracy[1.0])
    table, last = pd.concat(gains, axis=1).sort_index(axis=1), axes[2]
    last.axhline(0, **layout.ZERO)
    networks.mean_points(last, table.columns, table, color=panels.COLORS["finetuning"])
    layout.name_ticks(last, table.columns)
    last.set(xlabel="training images", ylabel=networks.GAIN, title=f"c  Rescaled by {FACTOR:g}, 2 classes")
    order = "gains over the network as it is, in the order of the learning rate, times 1/factor²"
    return layout.finish(fig, p.title, networks.INTERVALS, order)


@plugins.figure(data=["stages", "risk"])
def stage_dimensionality(data, p: Titled):
    """How many dimensions the outputs of a network's stages have before and after finetuning, and how many both share.

    Panels a–f, by stage in the order of the network, a line for each factor, and a dotted one for each further learning
    rate. Roles: `stages` and `risk` of one experiment.
    """
    after, before = "participation_ratio", "participation_ratio_start"
    # {quantity: (title, label, largest value that there can be)}
    quantities = {
        after: ("a  Dimensions before and after", "participation ratio (PR)", np.inf),
        "ensd": ("b  Dimensions that both share", "shared dimensions (ENSD)", np.inf),
        "change": ("d  Change by finetuning", "PR after / PR before", np.inf),
        "inherited": ("e  Shared over remaining dimensions", "ENSD / PR after", np.inf),
        "cka": ("f  Similarity of before and after", "centred kernel alignment (CKA)", 1.0),
    }
    every, risk = (select_runs(data[role], protocol="finetuning") for role in ("stages", "risk"))
    usual = most_common(every, "learning_rate")
    every = every.assign(change=every[after] / every[before], inherited=every["ensd"] / every[after])
    stages, risk = (select_runs(runs, learning_rate=usual) for runs in (every, risk))
    factors = panels.values(stages, "rescale")
    rates = [rate for rate in panels.values(every, "learning_rate") if rate != usual]
    reds = plt.get_cmap("Reds")(np.linspace(0.5, 0.9, len(rates)))
    fig, ((dimensions, shared, accuracy), below) = plt.subplots(2, 3, figsize=(11.0, 6.8))
    networks.by_stage(
        dimensions, select_runs(stages, rescale=factors[0]), before, 0, "before finetuning", color="k", linestyle="--"
    )
    for ax in below[:2]:
        ax.axhline(1, **layout.ZERO)
    for ax, (quantity, (title, label, most)) in zip((dimensions, shared, *below), quantities.items(), strict=True):
        ax.set(title=title, ylabel=label)
        for place, (factor, runs, color) in enumerate(panels.assign_colors(stages, "rescale")):
            shift, name = 0.07 * (place - (len(factors) - 1) / 2), f"after, {networks.factor_in_words(factor)}"
            networks.by_stage(ax, runs, quantity, shift, name, most, color=color)
        for rate, color in zip(rates, reds, strict=True):
            runs, name = select_runs(every, learning_rate=rate), f"after, learning rate × {rate / usual:g}"
            networks.by_stage(ax, runs, quantity, 0, name, most, color=color, linestyle=":")
    dimensions.set_ylim(bottom=0)
    shared.sharey(dimensions)
    for _, runs, color in panels.assign_colors(risk, "rescale"):
        networks.accuracies(accuracy, runs, "rescale", color=color)
    layout.name_values(accuracy, risk, "rescale")
    accuracy.set(title="c  Test accuracy", xlabel="factor on the weights before finetuning", ylabel=networks.ACCURACY)
    return layout.finish(
        fig,
        p.title,
        ", ".join(networks.system_in_words(risk)),
        networks.units_in_words(stages),
        networks.INTERVALS,
        columns=3,
    )
