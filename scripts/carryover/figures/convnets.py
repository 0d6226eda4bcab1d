"""Convolutional networks finetuned on tasks of a few images (Fig. 7 and 8d of feature reuse)."""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.convnets import by_classes, most_common, network_in_words, target_in_words
from carryover.claims.support.runs import Runs
from carryover.figures.drawing import layout, panels
from carryover.runs import chosen, where

PERCENT = 0.0, 100.0
INTERVALS = "means with 95 % t intervals over seeds"
ACCURACY, GAIN = "test accuracy (%)", "gain (percentage points)"
DONE = 0.95
UNFINISHED = f"fewer than {DONE:.0%} of the networks reached the training loss at which training stops"
RESCALE = 0.5  # factor that is compared with no rescaling where none is chosen
ZERO = {"color": "0.3", "linewidth": 0.8}


# Accuracies and their gains, with intervals and in words.


def _accuracy(runs, **condition):
    """Test accuracy in percent at some values of the coordinates, seeds by tasks."""
    return 100 * (1 - Runs("risk", runs).where(**condition).table("risk_final", "task"))


def _gain(runs, rescale, rescaled="all", **condition):
    """Percentage points of accuracy by a factor on part of the weights, of the same seed and task, seeds by tasks."""
    scaled = _accuracy(runs, rescale=rescale, rescaled=rescaled, **condition)
    return scaled - _accuracy(runs, rescale=1.0, rescaled="all", **condition)


def _intervals(tables):
    """(mean, low, high), each by table, of the means over tasks, by seed."""
    return panels.means({place: table.mean(axis=1) for place, table in enumerate(tables)})


def _points(ax, x, tables, label, possible=(-np.inf, np.inf), runs=(), **style):
    """The means of tables with their intervals, as far as there can be such values, at places x.

    Where `runs` are given for each, a cross stands behind those of which too few were trained to the end.
    """
    found = np.clip(_intervals(tables), *possible)
    panels.points(ax, x, found, label, **{"elinewidth": 1, "marker": "o"} | style)
    for place, mean, these in zip(x, found[0], runs, strict=False):
        _cross(ax, place, mean, these)


def _gain_rows(ax, rows, label):
    """Gains with their intervals, one below the other: {name: (table, its runs, marker)}; squares are hollow."""
    ax.axvline(0, **ZERO)
    found = _intervals([gains for gains, *_ in rows.values()]).T
    for place, ((mean, *ends), (_, runs, marker)) in enumerate(zip(found, rows.values(), strict=True)):
        color = panels.COLORS[str(runs["protocol"].values[0])]
        ax.plot(ends, [place, place], color=color, linewidth=1)
        ax.plot(mean, place, marker, color=color, markerfacecolor="none" if marker == "s" else color)
        _cross(ax, mean, place, runs)
    ax.set_yticks(range(len(rows)), rows)
    ax.set(ylim=(len(rows) - 0.5, -0.5), xlabel=label)


def _cross(ax, x, y, runs):
    if runs["converged"].mean() < DONE:
        ax.plot(x, y, "kx", markersize=11, zorder=1.5, label=UNFINISHED)


def _units(runs):
    """'3 seeds × 8 tasks': those of each."""
    tasks = len(panels.values(runs, "task"))
    return f"{panels.seeds_in_words(runs)} × {tasks} task" + ("s" if tasks > 1 else "")


def _system(runs):
    """What finetuned runs are: the network, its target and its source, in words."""
    tuned = where(runs, protocol="finetuning")
    source = str(tuned["source_classes"].values[0])
    pretrained = f"pretrained on {len(source.split())} others" if source else "published weights"
    return f"{network_in_words(runs)}\n{target_in_words(tuned)}, {pretrained}"


# Rescaling (Fig. 7).


def convnet_rescaling(data, p):
    """Whether convolutional networks are finetuned better with their weights rescaled before (Fig. 7).

    A column for each role, a `risk` dataset, and number of classes that its tasks tell apart: test accuracy, and below
    it what the factor gains, against samples. Of several learning rates the usual one is shown. Gains are differences
    between runs of the same seed, task and samples.
    """
    # Curves (protocol, whether rescaled) and their places next to each other; MTL is one point, apart from the others.
    curves = {("finetuning", False): -2, ("finetuning", True): -1, ("single_task", False): 0,
              ("single_task", True): 1, ("multi_task", False): 4, ("multi_task", True): 5}  # fmt: skip
    systems = [runs for role, risk in data.items() for runs in by_classes(role, risk).values()]
    size = (max(7.0, 2.5 * len(systems) + 0.8), 5.6)
    fig, axes = plt.subplots(2, len(systems), figsize=size, sharex="col", squeeze=False)
    for (above, below), risk in zip(axes.T, systems, strict=True):
        runs = where(risk, learning_rate=most_common(risk, "learning_rate"), rescaled="all")
        if above is not axes[0, 0]:
            above.sharey(axes[0, 0])
        classes = len(str(runs["target_classes"].values[0]).split())
        above.axhline(100 / classes, color="0.3", linestyle=":", linewidth=1, label="chance")
        below.axhline(0, **ZERO)
        for (protocol, rescaled), place in curves.items():
            factor = p.rescale if rescaled else 1.0
            shown = runs.isel(run=chosen(runs, protocol=protocol, rescale=factor))
            if not shown.sizes["run"]:
                continue
            sizes = panels.values(shown, "samples")
            by_size = [where(shown, samples=n) for n in sizes]
            name = panels.name(runs, "protocol", protocol)
            color, width = panels.COLORS[protocol], 1.6 if protocol == "finetuning" else 0.9
            style = {"linestyle": "--", "mfc": "white"} if rescaled else {}
            label = f"{name}, rescaled by {factor:g}" if rescaled else name
            x = [n * 2 ** (0.07 * place) for n in sizes]
            tables = [_accuracy(part) for part in by_size]
            _points(above, x, tables, label, PERCENT, by_size, **style, color=color, lw=width)
            if rescaled and protocol != "multi_task":
                gains = [_gain(runs, factor, protocol=protocol, samples=n) for n in sizes]
                _points(below, x, gains, name, color=color, lw=width)
        lines = _system(runs).replace(", ", ",\n").splitlines()  # columns are narrow
        words = "\n".join(fill(line, 28) for line in lines)
        above.set_title(f"{words}\n({_units(runs)})", fontsize="small")
        below.set_xlabel("training images of the task")
        layout.name_ticks(below, panels.values(where(runs, protocol="finetuning"), "samples"), 2)
    axes[0, 0].set(ylabel=ACCURACY, ylim=(0, 103))
    axes[1, 0].set_ylabel(f"gain by the factor {p.rescale:g}\n(percentage points, paired)")
    return layout.finish(fig, p.title, INTERVALS, "scales of gains differ")


def convnet_controls(data, p):
    """What of the gain by rescaling is due to which weights, to the learning rate and to the length of training.

    Panels a–c. Roles: `risk` and `trajectory` of one experiment, whose networks were finetuned with the factor on parts
    of their weights and at several learning rates.
    """
    risk, trajectory = (where(data[role], samples=p.samples) for role in ("risk", "trajectory"))
    tuned, scratch = (where(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(11.5, 4.4), width_ratios=(1.1, 0.8, 1.1))

    # a: gain by what the factor is on, and by the learning rate.
    usual = {"learning_rate": p.learning_rate}
    parts = panels.values(tuned.isel(run=chosen(tuned, rescale=RESCALE, **usual)), "rescaled")
    kinds = [(f"PT+FT, {panels.name(risk, 'rescaled', part)}", tuned, {"rescaled": part, **usual}) for part in parts]
    kinds += [(f"PT+FT, all weights,\nlearning rate {rate:g}", tuned, {"learning_rate": rate})
              for rate in panels.values(tuned, "learning_rate")[::-1] if rate != p.learning_rate]  # fmt: skip
    kinds.append(("STL, all weights", scratch, usual))
    rows = {label: (_gain(runs, RESCALE, **which), where(runs, rescale=RESCALE, **which), "o")
            for label, runs, which in kinds}  # fmt: skip
    _gain_rows(left, rows, f"gain by the factor {RESCALE:g} (percentage points, paired)")
    left.set_title("a  Gain by what is rescaled")

    # b: accuracy of finetuning against the learning rate, with and without the factor.
    whole = where(tuned, rescaled="all")
    rates = panels.values(whole, "learning_rate")
    for factor, runs, color in panels.colored(whole, "rescale"):
        if factor in (RESCALE, 1.0):
            by_rate = [where(runs, learning_rate=rate) for rate in rates]
            tables, x = [_accuracy(part) for part in by_rate], np.array(rates) * (1.03 if factor == 1 else 0.97)
            _points(middle, x, tables, _with_factor(whole, "finetuning", factor), PERCENT, by_rate, color=color)
    layout.name_ticks(middle, rates)
    middle.set(xlabel="learning rate", ylabel=ACCURACY, title="b  PT+FT by learning rate")

    # c: mean accuracy at every step at which a run was looked at, by factor, and its interval at the last.
    courses = where(trajectory, learning_rate=p.learning_rate, rescaled="all")
    for protocol, style in (("finetuning", "-"), ("single_task", "--")):
        for factor, runs, color in panels.colored(courses, "rescale"):
            if chosen(runs, protocol=protocol).any():
                table, label = _by_step(where(runs, protocol=protocol)), _with_factor(courses, protocol, factor)
                steps, end = np.exp(table.columns), table.iloc[:, -1].unstack("task")
                right.plot(steps, table.mean(), color=color, linestyle=style, label=label)
                _points(right, steps[-1:], [end], None, PERCENT, color=color)
    right.set(xscale="log", xlabel="steps of gradient descent", ylabel=ACCURACY, title="c  Accuracy along training")
    layout.plain_decades(right.xaxis)
    notes = f"n = {p.samples}", _units(risk), INTERVALS, "c: ended runs keep their last value"
    return layout.finish(fig, p.title, *notes)


def _with_factor(runs, protocol, factor):
    return panels.name(runs, "protocol", protocol) + (f", rescaled by {factor:g}" if factor != 1 else ", as it is")


def _by_step(runs):
    """Accuracies (seed and task, log of the steps at which some run was looked at), a data frame.

    Between two checkpoints accuracies follow the logarithm of the steps, and after a run's end they stay.
    """
    frame = runs[["time", "risk_curve"]].to_dataframe()
    frame = frame.assign(steps=np.log(np.rint(frame["time"] / frame["learning_rate"])))
    return 100 * (1 - frame.pivot_table("risk_curve", ["seed", "task"], "steps").interpolate("index", axis=1))


def pretrained_rescaling(data, p):
    """What rescaling a network pretrained on ImageNet gains, and every control beside it (Fig. 7).

    Panels a–c. Roles: `pairs` and `sets`, networks finetuned with factors and at further learning rates, and from
    scratch; `sizes`, with and without the factor at other numbers of samples.
    """
    fig, axes = plt.subplots(1, 3, figsize=(11.5, 4.2), width_ratios=(1, 1, 0.8))
    for ax, letter, role in zip(axes, "ab", ("pairs", "sets"), strict=False):
        samples = panels.values(data[role], "samples")[0]
        ax.set_title(f"{letter}  {target_in_words(data[role])}, n = {samples}\n({_units(data[role])})")
        _gains_of_controls(ax, data[role])

    # c: gain by the factor against the number of training images.
    tables = {}
    for risk in (data["sizes"], data["pairs"]):
        tuned = where(risk, protocol="finetuning", learning_rate=most_common(risk, "learning_rate"))
        for n in panels.values(tuned, "samples"):
            tables[n] = _accuracy(tuned, samples=n, rescale=RESCALE) - _accuracy(tuned, samples=n, rescale=1.0)
    sizes, last = sorted(tables), axes[2]
    last.axhline(0, **ZERO)
    _points(last, np.array(sizes), [tables[n] for n in sizes], None, color=panels.COLORS["finetuning"])
    layout.name_ticks(last, sizes)
    last.set(xlabel="training images", ylabel=GAIN, title=f"c  Rescaled by {RESCALE:g}, 2 classes")
    order = "gains over the network as it is, in the order of the learning rate, times 1/factor²"
    return layout.finish(fig, p.title, INTERVALS, order)


def _gains_of_controls(ax, risk):
    """Gain of every kind of run over those that are finetuned as they are."""
    usual = most_common(risk, "learning_rate")
    tuned, scratch = (where(risk, protocol=protocol) for protocol in ("finetuning", "single_task"))
    plain = where(tuned, rescale=1.0)
    kinds = [(factor**-2, f"rescaled by {factor:g}", where(tuned, rescale=factor), "o")
             for factor in panels.values(tuned, "rescale") if factor != 1]  # fmt: skip
    kinds += [(rate / usual, f"learning rate × {rate / usual:g}", where(plain, learning_rate=rate), "s")
              for rate in panels.values(plain, "learning_rate") if rate != usual]  # fmt: skip
    kinds = [*sorted(kinds, key=lambda kind: -kind[0]), (None, "from scratch", scratch, "o")]
    accuracy = _accuracy(plain, learning_rate=usual)
    rows = {name: (_accuracy(runs) - accuracy, runs, marker) for _, name, runs, marker in kinds}
    _gain_rows(ax, rows, GAIN)
    # A factor with which nothing is learned would press all others together: its mean is written at the left end.
    least = -16.0
    ax.set_xlim(least, None)
    ax.xaxis.set_major_locator(plt.MultipleLocator(5))
    for place, (gains, *_) in enumerate(rows.values()):
        if (mean := float(np.mean(gains))) < least:
            ax.annotate(f"← {mean:.0f}".replace("-", "−"), (least + 0.5, place), va="center")


# Dimensionality (Fig. 8d).


def stage_dimensionality(data, p):
    """How many dimensions the outputs of a network's stages have before and after finetuning, and how many both share.

    Panels a–f, by stage in the order of the network, a line for each factor, and a dotted one for each further learning
    rate. Roles: `stages` and `risk` of one experiment.
    """
    after, before = "participation_ratio", "participation_ratio_start"
    # {quantity: (title, label, level of a line across the panel, largest value that there can be)}
    quantities = {
        after: ("a  Dimensions before and after", "participation ratio (PR)", None, np.inf),
        "ensd": ("b  Dimensions that both share", "shared dimensions (ENSD)", None, np.inf),
        "accuracy": ("c  Test accuracy", ACCURACY, None, 100.0),
        "change": ("d  Change by finetuning", "PR after / PR before", 1, np.inf),
        "inherited": ("e  Shared over remaining dimensions", "ENSD / PR after", 1, np.inf),
        "cka": ("f  Similarity of before and after", "centred kernel alignment (CKA)", None, 1.0),
    }
    every, risk = (where(data[role], protocol="finetuning") for role in ("stages", "risk"))
    usual = most_common(every, "learning_rate")
    every = every.assign(change=every[after] / every[before], inherited=every["ensd"] / every[after])
    stages, risk = (where(runs, learning_rate=usual) for runs in (every, risk))
    factors = panels.values(stages, "rescale")
    rates = [rate for rate in panels.values(every, "learning_rate") if rate != usual]
    # (label, runs, shift along the axis, style) of every curve
    curves = [("after, as it is" if factor == 1 else f"after, rescaled by {factor:g}", runs,
               0.07 * (place - (len(factors) - 1) / 2), {"color": color})
              for place, (factor, runs, color) in enumerate(panels.colored(stages, "rescale"))]  # fmt: skip
    reds = plt.get_cmap("Reds")(np.linspace(0.5, 0.9, len(rates)))
    curves += [(f"after, learning rate × {rate / usual:g}", where(every, learning_rate=rate), 0,
                {"color": color, "linestyle": ":"}) for rate, color in zip(rates, reds, strict=True)]  # fmt: skip
    fig, axes = plt.subplots(2, 3, figsize=(11.0, 6.8))
    first = where(stages, rescale=factors[0])
    _by_stage(axes[0, 0], first, before, 0, "before finetuning", color="k", linestyle="--")
    for ax, (quantity, (title, label, level, most)) in zip(axes.flat, quantities.items(), strict=True):
        ax.set(title=title, ylabel=label)
        if level is not None:
            ax.axhline(level, **ZERO)
        if quantity != "accuracy":
            for name, runs, shift, style in curves:
                _by_stage(ax, runs, quantity, shift, name, most, **style)
            continue
        for factor, runs, color in panels.colored(risk, "rescale"):
            _points(ax, [factor], [_accuracy(runs)], None, (0.0, most), color=color)
        layout.name_values(ax, risk, "rescale")
        ax.set_xlabel("factor on the weights before finetuning")
    axes[0, 1].sharey(axes[0, 0])
    axes[0, 0].set_ylim(bottom=0)
    notes = _system(risk).replace("\n", ", "), _units(stages), INTERVALS
    return layout.finish(fig, p.title, *notes, columns=3)


def _by_stage(ax, runs, quantity, shift, label, most=np.inf, **style):
    names = runs["stage"].values
    tables = [Runs("stages", runs).where(stage=name).table(quantity, "task") for name in names]
    _points(ax, np.arange(len(names)) + shift, tables, label, (0.0, most), **style)
    ax.set_xticks(range(len(names)), [name.removeprefix("stage") for name in names])
    ax.set_xlabel("stage")
