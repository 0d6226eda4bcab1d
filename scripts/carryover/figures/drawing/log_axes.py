"""Logarithmic axes: what they name."""

import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from carryover import labels
from carryover.figures.drawing import panels

NEAR = 0.06
"""Share of a logarithmic axis that the names of two values need between them."""
WIDE = 80
"""Ends of an x axis that are farther apart have room for two names in a decade."""


def named(ax, values, base=10):
    """An x axis with a tick at each of some values: the ends are named, and those between that have room."""
    ax.set_xscale("log", base=base)
    *inner, last = sorted(values)
    near, legible = NEAR * np.log(last / min([*inner, last])), []
    for value in inner:
        if not legible or np.log(value / legible[-1]) >= near:
            legible.append(value)
    while len(legible) > 1 and np.log(last / legible[-1]) < near:
        legible.pop()
    ax.set_xticks(values, [f"{value:g}" if value in [*legible, last] else "" for value in values])
    ax.minorticks_off()


def along(ax, runs, coordinate):
    """An x axis of a coordinate of runs that names its values: in base 2, or of rescalings in base 10."""
    values = panels.values(runs, coordinate)
    named(ax, values, 10 if coordinate == "rescale" else 2)
    if coordinate == "rescale":
        ax.set_xlim(min(values) / 1.5, max(values) * 1.5)
    ax.set_xlabel(labels.label(runs, coordinate))


def plain_decades(axis):
    """An x or y axis that names 1, 2 and 5 of each decade as numbers; where an x axis has two decades or nearly so, and
    names stand side by side, 1 and 3."""
    low, high = axis.get_view_interval()
    wide = axis.axis_name == "x" and high > WIDE * low > 0
    axis.set_major_locator(LogLocator(subs=(1, 3) if wide else (1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def enough_names(axis):
    """`plain_decades` of an axis with fewer than two powers of ten in view, unless its numbers are very small."""
    low, high = np.log10(axis.get_view_interval())
    if np.floor(high) - np.ceil(low) < 1 and low > -4:
        plain_decades(axis)
