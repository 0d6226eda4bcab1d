"""Logarithmic axes: what they name, and how it is written.

Powers are plain text, 10⁻³, which is drawn in a tenth of the time of Matplotlib's own, set like a formula. In SVG they
are words that can be searched for.
"""

import re

import numpy as np
from matplotlib.ticker import Formatter, LogFormatterMathtext, LogLocator, NullLocator

from carryover import labels
from carryover.figures.drawing import panels

NEAR = 0.06
"""Share of a logarithmic axis that the names of two values need between them."""
WIDE = 80
"""Ends of an x axis that are farther apart have room for two names in a decade."""
_FORMULA = re.compile(r"\$\\mathdefault\{(?:(.+)\\times)?(\w+)\^\{(.+)\}\}\$")
_RAISED = str.maketrans("-−0123456789.", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹·")


def named(ax, values, base=10):
    """An x axis with a tick at each of some values, which names those that are not too near to another."""
    ax.set_xscale("log", base=base)
    legible = apart(values)
    ax.set_xticks(values, [f"{value:g}" if value in legible else "" for value in values])
    ax.minorticks_off()


def apart(values):
    """Of positive values the least, the greatest, and those between whose names do not touch those of others."""
    *values, last = sorted(values)
    near, chosen = NEAR * np.log(last / min([*values, last])), []
    for value in values:
        if not chosen or np.log(value / chosen[-1]) >= near:
            chosen.append(value)
    while len(chosen) > 1 and np.log(last / chosen[-1]) < near:
        chosen.pop()
    return [*chosen, last]


def samples(ax, sizes):
    """A base-2 x axis of sample sizes that names each."""
    named(ax, sizes, 2)


def rescalings(ax, runs):
    """A base-10 x axis of the rescalings of runs that names each."""
    factors = panels.values(runs, "rescale")
    named(ax, factors)
    ax.set_xlim(min(factors) / 1.5, max(factors) * 1.5)
    ax.set_xlabel(labels.label(runs, "rescale"))


def plain_decades(axis):
    """An x or y axis that names 1, 2 and 5 of each decade as numbers; where an x axis has two decades or nearly so, and
    names stand side by side, 1 and 3."""
    low, high = axis.get_view_interval()
    wide = axis.axis_name == "x" and high > WIDE * low > 0
    axis.set_major_locator(LogLocator(subs=(1, 3) if wide else (1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())


def enough_names(axis):
    """`plain_decades` of an axis in whose view there are fewer than two powers of ten, which alone would be named, but
    for numbers so small that they would be written as powers of ten and others."""
    low, high = np.log10(axis.get_view_interval())
    if np.floor(high) - np.ceil(low) < 1 and low > -4:
        plain_decades(axis)


class PlainPowers(Formatter):
    """What another formatter of logarithmic axes says, as plain text."""

    def __init__(self, formatter):
        self.formatter = formatter

    def set_axis(self, axis):
        super().set_axis(axis)
        self.formatter.set_axis(axis)

    def set_locs(self, locs):
        super().set_locs(locs)
        self.formatter.set_locs(locs)

    def __call__(self, x, pos=None):
        return plain(self.formatter(x, pos))


def plain(label):
    """'2×10⁻³' of '$\\mathdefault{2\\times10^{-3}}$'; any other label is left as it is."""
    if not (found := _FORMULA.fullmatch(label)):
        return label
    factor, base, exponent = found.groups()
    return f"{factor}×{base}{exponent.translate(_RAISED)}" if factor else base + exponent.translate(_RAISED)


def in_plain_text(figure):
    """Have all logarithmic axes of a figure labelled in plain text."""
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        if isinstance(axis.get_major_formatter(), LogFormatterMathtext):  # axes that are shared have it in common
            axis.set_major_formatter(PlainPowers(axis.get_major_formatter()))
        if isinstance(axis.get_minor_formatter(), LogFormatterMathtext):
            axis.set_minor_formatter(PlainPowers(axis.get_minor_formatter()))
