"""What the figures of the features of ReLU networks share: their runs, and the names of conditions."""

import numpy as np

from carryover.errors import UserError
from carryover.figures.drawing import layout, log_axes, panels
from carryover.runs import ALL_LAYERS, conditions, where


def trained(data, roles, only=()):
    """{role: the runs that meet conditions and whose layers were all trained} of those roles that there are.

    `roles` says for each which variables and coordinates are drawn. UserError where there is none of the roles, where
    one lacks what is drawn, or has no such runs.
    """
    if not (known := [role for role in roles if role in data]):
        raise UserError(f"this figure draws the roles {', '.join(roles)}, of which there is none.")
    shown = {}
    for role in known:
        if missing := [name for name in roles[role] if name not in data[role].variables]:
            there = ", ".join(data[role].variables)
            raise UserError(f"data of the role {role} have no {missing[0]}; they have {there}.")
        runs = where(data[role], **conditions(only))
        shown[role] = runs.isel(run=np.isin(runs["protocol"].values, ALL_LAYERS["protocol"]))
        if not shown[role].sizes["run"]:
            raise UserError(f"data of the role {role} have no run of {', '.join(ALL_LAYERS['protocol'])}.")
    return shown


def spread_of(shown, how="band"):
    """`panels.spread_in_words` of the datasets {role: runs}: said once where they have the same number of seeds."""
    words = {role: panels.spread_in_words(runs, how) for role, runs in shown.items()}
    distinct = set(words.values())
    return distinct.pop() if len(distinct) == 1 else ", ".join(f"{role}: {text}" for role, text in words.items())


def overlaps(data):
    """{overlap: its name} of tasks whose features are new, or a subset of the auxiliary ones."""
    extremes = {0: " (disjoint)", 1: " (subset)"}
    return {value: panels.name(data, "overlap", value) + extremes.get(value, "")
            for value in panels.values(data, "overlap")}  # fmt: skip


def related(data):
    """{list of cosines between the main and the auxiliary units: its name}, from new to shared features."""
    return {text: panels.cosines_in_words(text) for text in panels.values(data, "unit_correlations")}


def some(named, most=4):
    """All of some values and their names, or as many of them as that, evenly from the first to the last."""
    places = np.unique(np.linspace(0, len(named) - 1, min(most, len(named))).round().astype(int))
    return {value: named[value] for value in np.array(list(named), dtype=object)[places]}


def regimes(data):
    """{initial scale: its name}: the smallest is the richest regime, the largest the laziest."""
    named = {scale: f"initial scale {scale:g}" for scale in panels.values(data, "initial_scale")}
    if len(named) > 1:
        rich, *_, lazy = named
        named |= {rich: f"rich ({named[rich]})", lazy: f"lazy ({named[lazy]})"}
    return named


def by_regime(ax, runs, quantity):
    """Curves against samples of networks from scratch, by initial scale: one colour, as all of single-task learning."""
    for (scale, label), style in zip(regimes(runs).items(), ("-", "--", ":", "-."), strict=False):
        part = where(runs, initial_scale=scale)
        panels.spread(ax, part, quantity, "samples", label, color=panels.color("single_task"), linestyle=style)


def by_cosines(runs, quantity, title, label, top=None):
    """(number of panels, function that draws them) of a quantity by protocol, for some of the lists of cosines."""
    lists = {text: f"cosines {name}" for text, name in some(related(runs)).items()}

    def draw(figure):
        axes = layout.row(figure, len(lists), title)
        facets(axes, runs, quantity, "samples", "unit_correlations", lists, "protocol")
        share_axes(axes, runs, "samples", label, top)

    return len(lists), draw


def facets(axes, runs, quantity, along, column, titles, hue, named=None):
    """A panel for each of some values {value: title} of a coordinate, with a curve for each value of another."""
    for ax, (value, title) in zip(axes, titles.items(), strict=True):
        panels.curves(ax, where(runs, **{column: value}), quantity, along, hue, named)
        ax.set_title(title)


def share_axes(axes, runs, along, label, top=None):
    """Axes of panels in a row, once all is drawn: along samples or rescalings, and up from 0, or what lies below."""
    for ax in axes:
        log_axes.along(ax, runs, along)
    axes[0].set_ylim(min(0, *(1.03 * ax.dataLim.y0 for ax in axes)), top)
    axes[0].set_ylabel(label)


def to_learn(axline, number, limit):
    """A dotted line (`axline` across or up a panel) at a number of features to learn, if the axis reaches so far."""
    if number <= limit:
        axline(number, color="0.3", linestyle=":", linewidth=1, label="features to learn")


def task(runs):
    """The main task of runs that have the same number of features, in words."""
    features = runs["main_features"].values[0]
    return f"main task of {features} unit" + ("s" if features > 1 else "")


def sizes(runs, wanted=()):
    """{sample size: title of its panel} of those wanted, or of all that finetuned runs have."""
    return {n: f"n = {n:g}" for n in wanted or panels.values(where(runs, protocol="finetuning"), "samples")}
