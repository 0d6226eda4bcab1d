"""What the figures of the features of ReLU networks share: their runs, and the names of conditions."""

import numpy as np

from carryover import labels
from carryover.errors import UserError
from carryover.figures.drawing import layout, log_axes, panels
from carryover.runs import ALL_LAYERS, conditions

WHOLE = ALL_LAYERS["protocol"]


def trained(data, roles, only=()):
    """{role: the runs that meet conditions and whose layers were all trained} of those roles that there are.

    `roles` says for each which variables and coordinates are drawn. UserError where there is none of the roles, where
    one lacks what is drawn, or has no such runs.
    """
    if not (known := [role for role in roles if role in data]):
        raise UserError(f"this figure draws the roles {', '.join(roles)}, of which there is none.")
    kept = {}
    for role in known:
        if missing := [name for name in roles[role] if name not in data[role].variables]:
            raise UserError(
                f"data of the role {role} have no {missing[0]}; they have {', '.join(data[role].variables)}."
            )
        runs = panels.where(data[role], **conditions(only))
        kept[role] = runs.isel(run=np.isin(runs["protocol"].values, WHOLE))
        if not kept[role].sizes["run"]:
            raise UserError(f"data of the role {role} have no run of {', '.join(WHOLE)}.")
    return kept


def spread_of(shown, how="band"):
    """`panels.spread_in_words` of the datasets {role: runs}: said once where they have the same number of seeds."""
    words = {role: panels.spread_in_words(runs, how) for role, runs in shown.items()}
    distinct = set(words.values())
    return distinct.pop() if len(distinct) == 1 else ", ".join(f"{role}: {said}" for role, said in words.items())


def sizes(data):
    """{sample size: its name}."""
    return {n: f"n = {n:g}" for n in panels.values(data, "samples")}


def regimes(data):
    """{initial scale: its name}: the smallest is the richest regime, the largest the laziest."""
    scales = panels.values(data, "initial_scale")
    named = {scale: f"initial scale {scale:g}" for scale in scales}
    if len(scales) > 1:
        named |= {scales[i]: f"{regime} ({named[scales[i]]})" for i, regime in ((0, "rich"), (-1, "lazy"))}
    return named


def overlaps(data):
    """{overlap: its name} of tasks whose features are new, or a subset of the auxiliary ones."""
    extremes = {0: " (disjoint)", 1: " (subset)"}
    return {
        overlap: f"{panels.name(data, 'overlap', overlap)}{extremes.get(overlap, '')}"
        for overlap in panels.values(data, "overlap")
    }


def related(data):
    """{list of cosines between the main and the auxiliary units: its name}, from new to shared features."""
    return {text: panels.cosines_in_words(text) for text in panels.values(data, "unit_correlations")}


def some(named, most=4):
    """All of some values and their names, or as many of them as that, evenly from the first to the last."""
    places = np.unique(np.linspace(0, len(named) - 1, min(most, len(named))).round().astype(int))
    return {value: named[value] for value in np.array(list(named), dtype=object)[places]}


def by_regime(ax, runs, quantity):
    """Curves against samples of networks from scratch, by initial scale: one colour, as all of single-task learning."""
    for (scale, label), style in zip(regimes(runs).items(), ("-", "--", ":", "-."), strict=False):
        part = panels.where(runs, initial_scale=scale)
        panels.spread(ax, part, quantity, "samples", label, color=panels.color("single_task"), linestyle=style)


def by_cosines(runs, quantity, title, label, top=None):
    """(number of panels, function that draws them) of a quantity by protocol, for some of the lists of cosines."""
    lists = some(related(runs))

    def paint(figure):
        axes = layout.row(figure, len(lists), title)
        for ax, (text, name) in zip(axes, lists.items(), strict=True):
            panels.curves(ax, panels.where(runs, unit_correlations=text), quantity, "samples", "protocol")
            ax.set_title(f"cosines {name}")
        against_samples(axes, runs, label, top)

    return len(lists), paint


def subset(runs):
    """Those whose main task has most features in common with the auxiliary one."""
    return panels.where(runs, overlap=panels.values(runs, "overlap")[-1])


def overlap(runs):
    """The overlap that all of some runs have, in words."""
    return panels.name(runs, "overlap", runs["overlap"].values[0])


def task(runs):
    """The main task of runs that have the same number of features, in words."""
    features = runs["main_features"].values[0]
    return f"main task of {features} unit" + ("s" if features > 1 else "")


def rescaled_sizes(runs, wanted):
    """The sample sizes of panels over rescalings: those wanted, or all that finetuning has."""
    return wanted or panels.values(panels.where(runs, protocol="finetuning"), "samples")


def to_learn(axline, number, limit):
    """A dotted line (`axline` across or up a panel) at a number of features to learn, if the axis reaches so far."""
    if number <= limit:
        axline(number, color="0.3", linestyle=":", linewidth=1, label="features to learn")


def against_samples(axes, runs, label, top=None):
    """Axes of panels in a row that show a quantity, from 0 up, against the sample sizes of the runs."""
    for ax in axes:
        log_axes.samples(ax, panels.values(runs, "samples"))
        ax.set_xlabel(labels.label(runs, "samples"))
    from_zero(axes, label, top)


def against_rescaling(axes, runs, label, top=None):
    """The same against their rescalings."""
    for ax in axes:
        log_axes.rescalings(ax, runs)
    from_zero(axes, label, top)


def from_zero(axes, label, top=None):
    """The y axis that panels in a row share, once all is drawn: from 0, or below where there is something."""
    axes[0].set_ylim(min(0, *(1.03 * ax.dataLim.y0 for ax in axes)), top)
    axes[0].set_ylabel(label)
