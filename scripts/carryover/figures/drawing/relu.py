"""What the figures of the features of ReLU networks share: their runs, names of conditions, and groups of panels."""

import numpy as np

from carryover.figures.drawing import layout, panels
from carryover.measures.parameters import ALL_LAYERS
from carryover.runs import where

ONE = {"color": "0.3", "linewidth": 1, "linestyle": ":"}


def trained(data, *roles):
    """The runs of some roles whose layers were all trained."""
    return [data[role].isel(run=np.isin(data[role]["protocol"].values, ALL_LAYERS["protocol"])) for role in roles]


def spread_in_words(data, how="band"):
    """`panels.spread_in_words` of data by role: said once where all have the same number of seeds."""
    words = {role: panels.spread_in_words(runs, how) for role, runs in data.items()}
    distinct = set(words.values())
    return distinct.pop() if len(distinct) == 1 else ", ".join(f"{role}: {text}" for role, text in words.items())


def overlaps(data):
    """{overlap: its name} of tasks whose features are new, or a subset of the auxiliary ones."""
    extremes = {0: " (disjoint)", 1: " (subset)"}
    return {value: panels.name(data, "overlap", value) + extremes.get(value, "")
            for value in panels.values(data, "overlap")}  # fmt: skip


def related(data, most=None):
    """{list of cosines between the main and the auxiliary units: its name}, from new to shared features."""
    lists = panels.values(data, "unit_correlations")
    return {text: panels.cosines_in_words(text) for text in (panels.some(lists, most) if most else lists)}


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
        panels.spread(ax, part, quantity, "samples", label, color=panels.COLORS["single_task"], linestyle=style)


def by_cosines(runs, quantity, title, label, top=None):
    """A group of panels of a quantity by protocol, for some of the lists of cosines."""
    columns = {f"cosines {name}": where(runs, unit_correlations=text) for text, name in related(runs, 4).items()}

    def panel(ax, part):
        panels.curves(ax, part, quantity, "samples", "protocol")

    return layout.group(title, columns, panel, label, "samples", top)


def to_learn(axline, number, limit):
    """A dotted line (`axline` across or up a panel) at a number of features to learn, if what is drawn goes so far."""
    if number <= limit:
        axline(number, **ONE, label="features to learn")


def task(runs):
    """The main task of runs that have the same number of features, in words."""
    features = runs["main_features"].values[0]
    return f"main task of {features} unit" + ("s" if features > 1 else "")
