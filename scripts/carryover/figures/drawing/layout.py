"""What stands around panels: a figure's title and legend, rows of groups of panels, and names on logarithmic axes."""

import math
import textwrap
from functools import partial
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import LogFormatterSciNotation, LogLocator, NullLocator

from carryover import labels
from carryover.figures.drawing import panels

ZERO: dict[str, Any] = {"color": "0.6", "linewidth": 0.6}
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
TRUTH = {"color": "0.4", "linestyle": ":", "linewidth": 1, "label": "ground truth"}


def finish(figure, title, *notes, columns=None, entries=True):
    """Add the title above a figure, and below it the notes on how it is drawn and, with `entries`, one legend in
    `columns`, by default as many as fit. Returns the figure."""
    legend(figure, *notes, columns=columns, entries=entries)
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = axis.get_view_interval()
        if axis.get_scale() == "log" and high > 100 * low:
            axis.set_minor_locator(NullLocator())  # to save time: minor ticks take a tenth of the time of drawing
            if isinstance(axis.get_major_formatter(), LogFormatterSciNotation):  # slow: it parses formulas
                axis.set_major_formatter(lambda x, _: f"10{str(round(math.log10(x))).translate(SUPERSCRIPTS)}")
    if title:
        figure.suptitle(_wrap(title, figure, 11.5))
    return figure


def legend(figure, *notes, columns=None, entries=True):
    """Add the notes and, with `entries`, a legend of all panels, each label once, in as many columns as fit."""
    handles: dict = {}
    for ax in figure.axes if entries else ():
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if not handles and not notes:
        return
    if columns is None and handles:
        size = FontProperties(size=plt.rcParams["legend.fontsize"]).get_size_in_points()
        widths = [size * (0.6 * len(text) + 5) for text in handles]  # a letter takes 0.6, handle and gaps take 5
        room = figure.bbox.width / figure.dpi * 72
        columns = max(1, len(widths) if sum(widths) <= room else int(room / max(widths)))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns or 1,
        title=_wrap("; ".join(notes), figure, 15.0), title_fontproperties={"size": "small"},
    )  # fmt: skip


def _wrap(text, figure, letters_per_inch):
    """The text, broken into lines that fit the width of the figure."""
    return "\n".join(textwrap.wrap(text, int(letters_per_inch * figure.bbox.width / figure.dpi)))


def group(title, columns, panel, ylabel, along=None, ylim=None, truth=None, width=None, **axes):
    """Panels side by side with one y axis, and a title above.

    Parameters
    ----------
    title, ylabel : str
    columns : dict
        {title of a panel: its runs}.
    panel : callable
        Draws the runs into a panel: panel(ax, runs).
    along : str, optional
        Coordinate of the runs on the horizontal axes, whose ticks are its values unless it is a dimension of the data.
    ylim : tuple, optional
        Limits of the vertical axis; the lower one moves down to points that lie below it.
    truth : float or str, optional
        Value of the ground truth, or the variable that holds it, drawn as a dotted line.
    width : float, optional
        Width of the group in units of one panel; by default the number of panels.
    **axes
        Further properties of the axes, such as `xlabel`.

    Returns
    -------
    tuple
        (width, function that draws the group into a subfigure), as `compose` takes it.
    """

    def draw(figure):
        figure.suptitle(title, fontsize="medium")
        row = figure.subplots(1, len(columns), sharey=True, squeeze=False)[0]
        for ax, (name, runs) in zip(row, columns.items(), strict=True):
            panel(ax, runs)
            ax.set(title=name, **axes)
            if truth is not None:
                level = float(runs[truth][0]) if isinstance(truth, str) else truth
                ax.axhline(level, **TRUTH)
            if along and "run" in runs[along].dims:
                name_values(ax, runs, along)
        row[0].set_ylabel(ylabel)
        if ylim:
            low, high = ylim
            row[0].set_ylim(min(low, *(1.03 * ax.dataLim.y0 for ax in row)), high)

    return width or len(columns), draw


def curves(title, columns, quantity, along, shown, ylabel, dodge=0.0, **axes):
    """A `group` of `panels.curves`; `axes` are its other arguments."""
    panel = partial(panels.curves, quantity=quantity, along=along, shown=shown, dodge=dodge)
    return group(title, columns, panel, ylabel, along, **axes)


def compose(rows, title, *notes):
    """A figure of rows, each a list of what `group` returns: (width in panels, function that draws into a subfigure).
    Each group has its own legend; below all stand the notes, texts on how it is drawn."""
    widest = max(sum(width for width, _ in groups) for groups in rows)
    fig = plt.figure(figsize=(2.1 * widest + 0.9, 2.9 * len(rows) + 0.5))
    for strip, groups in zip(fig.subfigures(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        parts = strip.subfigures(1, len(groups), squeeze=False, width_ratios=[width for width, _ in groups])[0]
        for part, (_, draw) in zip(parts, groups, strict=True):
            draw(part)
            legend(part)
    return finish(fig, title, *notes, entries=False)


def name_ticks(ax, values, base=10):
    """A logarithmic x axis with a tick at each of some values; those that have room are named, from the last on."""
    ax.set_xscale("log", base=base)
    values = sorted(values)
    room = ax.get_window_extent().width / ax.figure.dpi / (0.64 * 8 / 72)  # in digits of 8 points
    logs = np.log(values)
    places = 0.9 * room * (logs - logs[0]) / (np.ptp(logs) or 1)  # of the axis, .1 is margin
    names, edge = [], np.inf  # from the last tick on; a name must end left of the last one written
    for value, place in zip(values[::-1], places[::-1], strict=True):
        name = f"{value:g}"
        reach = len(name) / 2 + 0.2
        names.append(name if place + reach <= edge else "")
        edge = place - reach if names[-1] else edge
    ax.set_xticks(values, names[::-1])
    ax.minorticks_off()


def name_values(ax, runs, coordinate):
    """An x axis of a coordinate of runs that names its values: in base 2, or of rescalings in base 10."""
    name_ticks(ax, panels.values(runs, coordinate), 10 if coordinate == "rescale" else 2)
    ax.set_xlabel(labels.label(runs, coordinate))


def plain_decades(axis):
    """A logarithmic axis that names 1, 2 and 5 of each decade as numbers."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(NullLocator())
