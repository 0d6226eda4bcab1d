"""What stands around panels: a figure's title, its legend, notes on how it is drawn, and rows of groups."""

import textwrap
from functools import wraps

import matplotlib.pyplot as plt
from matplotlib.font_manager import FontProperties

from carryover.errors import UserError


def laid_out(draw):
    """A plug-in's function `draw`, which lays its figure out once for all formats.

    Raises UserError for a text with mathematics (`$…$`) that Matplotlib cannot read.
    """

    @wraps(draw)
    def drawn(data, p):
        try:
            figure = draw(data, p)
            if isinstance(figure, plt.Figure) and (engine := figure.get_layout_engine()):
                engine.execute(figure)
        except ValueError as error:
            text, _, fault = " ".join(str(error).split()).partition("Exception: ")
            if not fault:
                raise
            text, fault = text.partition(" ^")[0], fault.partition(" (at char")[0]
            raise UserError(
                f"the formula {text} in a text is no mathematics: {fault}; a dollar sign is written \\$."
            ) from error
        return figure

    return drawn


def finish(figure, title, *notes, columns=None):
    """A figure with its title, and below it notes on how it is drawn, and its legend."""
    legend(figure, *notes, columns=columns)
    suptitle(figure, title)
    return figure


def suptitle(figure, text):
    """What is seen, in as many lines as the figure's width asks for."""
    if text:
        figure.suptitle(_wrapped(text, figure, 11.5))


def legend(figure, *notes, columns=None, entries=True):
    """Notes on how a figure is drawn, and one legend with every label once, whichever panel has it, in as many columns
    as fit."""
    handles = {}
    for ax in figure.axes if entries else ():
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if not handles and not notes:
        return
    if columns is None and handles:
        size = FontProperties(size=plt.rcParams["legend.fontsize"]).get_size_in_points()
        widths = [size * (0.6 * len(text) + 5) for text in handles]  # of a letter, and of handle and gaps
        room = figure.bbox.width / figure.dpi * 72
        columns = max(1, len(widths) if sum(widths) <= room else int(room / max(widths)))
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns or 1,
        title=_wrapped("; ".join(notes), figure, 15.0), title_fontproperties={"size": "small"},
    )  # fmt: skip


def panel_legend(ax, **kwargs):
    """A legend inside a panel, whose entries the figure's legend leaves out."""
    handles, names = ax.get_legend_handles_labels()
    ax.legend(handles, names, fontsize="small", **kwargs)
    for handle, name in zip(handles, names, strict=True):
        handle.set_label(f"_{name}")


def row(figure, count, title):
    """The panels of a group side by side, with one y axis and a title above."""
    figure.suptitle(title, fontsize="medium")
    return figure.subplots(1, count, sharey=True, squeeze=False)[0]


def compose(rows, title, *notes):
    """A figure of rows of groups (width in panels, function that draws into a subfigure), each with its own legend."""
    widest = max(sum(width for width, _ in groups) for groups in rows)
    fig = plt.figure(figsize=(2.1 * widest + 0.9, 2.9 * len(rows) + 0.5))
    for strip, groups in zip(fig.subfigures(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        widths = [width for width, _ in groups]
        parts = strip.subfigures(1, len(groups), squeeze=False, width_ratios=widths)[0]
        for part, (_, draw) in zip(parts, groups, strict=True):
            draw(part)
            legend(part)
    legend(fig, *notes, entries=False)
    suptitle(fig, title)
    return fig


def _wrapped(text, figure, letters):
    """In lines of so many letters an inch."""
    return "\n".join(textwrap.wrap(text, int(letters * figure.bbox.width / figure.dpi)))
