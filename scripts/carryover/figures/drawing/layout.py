"""What stands around panels: a figure's title, its legend, notes on how it is drawn, and rows of groups."""

import textwrap

import matplotlib.pyplot as plt
from matplotlib.font_manager import FontProperties

_NOTES = {"size": "small"}  # how notes are written


def title(figure, text):
    """What is seen, in as many lines as the figure's width asks for."""
    figure.suptitle(_wrapped(text, figure, 11.5))


def legend(figure, *notes, columns=None):
    """Below the figure how it is drawn, and one legend, with every label once, whichever panel has it, in as many
    columns as fit."""
    handles = {}
    for ax in figure.axes:
        handles |= {label: handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    _below(figure, handles, notes, columns or _fitting(figure))


def _below(figure, handles, notes, columns=1):
    if not handles and not notes:
        return
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=columns,
        title=_wrapped("; ".join(notes), figure, 15.0), title_fontproperties=_NOTES,
    )  # fmt: skip


def _wrapped(text, figure, letters):
    """In lines of so many letters an inch."""
    return "\n".join(textwrap.wrap(text, int(letters * figure.bbox.width / figure.dpi)))


def finished(figure, text, *notes, columns=None):
    """A figure with its title, and below it notes on how it is drawn, and its legend."""
    legend(figure, *notes, columns=columns)
    title(figure, text)
    return figure


def row(figure, count, title):
    """The panels of a group side by side, with one y axis and a title above."""
    figure.suptitle(title, fontsize="medium")
    return figure.subplots(1, count, sharey=True, squeeze=False)[0]


def compose(rows, text, *notes):
    """A figure of rows of groups (width in panels, function that draws into a subfigure), each with its own legend."""
    widest = max(sum(width for width, _ in groups) for groups in rows)
    fig = plt.figure(figsize=(2.1 * widest + 0.9, 2.9 * len(rows) + 0.5))
    for strip, groups in zip(fig.subfigures(len(rows), 1, squeeze=False)[:, 0], rows, strict=True):
        widths = [width for width, _ in groups]
        parts = strip.subfigures(1, len(groups), squeeze=False, width_ratios=widths)[0]
        for part, (_, paint) in zip(parts, groups, strict=True):
            paint(part)
            legend(part)
    _below(fig, {}, notes)
    title(fig, text)
    return fig


def _fitting(figure):
    """How many columns of a legend the width of a figure has room for."""
    size = FontProperties(size=plt.rcParams["legend.fontsize"]).get_size_in_points()
    texts = {label for ax in figure.axes for label in ax.get_legend_handles_labels()[1]}
    widths = [size * (0.6 * len(text) + 5) for text in texts]  # of a letter, and of handle and gaps
    room = figure.bbox.width / figure.dpi * 72
    return max(1, len(texts) if sum(widths) <= room else int(room / max(widths)))
