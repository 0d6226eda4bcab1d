"""Claims as a forest plot: of each the interval beside its bound, and what it says."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from carryover.analysis import intervals
from carryover.errors import UserError
from carryover.figures.drawing import layout

COLORS = {"holds": "#009E73", "undecided": "#999999", "fails": "#D55E00"}
LETTERS = 112  # in a line of a statement
LINE, GAP = 0.145, 0.6  # height of a line in inches, and what is left between claims, in lines
TITLE = 3  # height of a panel's title and of what is left above it, in lines


def draw(data, p):
    """Role: `claims`, the table of all claims. A panel for each claim, a line for each of its checks.

    Every check has a scale of its own: the bound is the line in the middle, and the interval's end that is farther from
    it is one away. Raises UserError for a paper that has no claims.
    """
    table = data["claims"].to_dataframe().reset_index()
    known = sorted(table["headline_paper"].unique())
    if p.paper:
        table = table[table["headline_paper"] == p.paper]
    if table.empty:
        raise UserError(f"paper={p.paper}: no claim is of it; there are claims of {', '.join(known)}.")
    groups = [rows for _, rows in table.groupby("headline", sort=False)]
    texts = [["\n".join(textwrap.wrap(_text(row), LETTERS)) for row in rows.itertuples()] for rows in groups]
    lines = [np.array([text.count("\n") + 1 + GAP for text in group]) for group in texts]
    heights = [group.sum() for group in lines]
    size = (10.5, LINE * (sum(heights) + TITLE * len(groups)) + 1)
    fig, axes = plt.subplots(
        len(groups), 2, figsize=size, height_ratios=heights, width_ratios=[1, 2.3], squeeze=False, sharey="row"
    )
    for (ax, beside), rows, group, room in zip(axes, groups, texts, lines, strict=True):
        ax.set(xlim=(-1.15, 1.15), ylim=(room.sum(), 0), xticks=[], yticks=[])
        first = rows.iloc[0]
        ax.set_title(f"{first.headline_verdict}: {first.sentence}", loc="left", color=COLORS[first.headline_verdict])
        ax.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
        ax.grid(False)
        beside.set_axis_off()
        for row, text, place in zip(rows.itertuples(), group, room.cumsum() - room / 2, strict=True):
            if (places := intervals.beside(row)) is not None:
                middle, *ends = places
                ax.plot(ends, [place, place], color=COLORS[row.verdict])
                ax.plot(middle, place, "o", color=COLORS[row.verdict], label=row.verdict)
            beside.text(0, place, text, va="center", fontsize="small")
    axes[-1, 0].set_xticks([0], ["bound"])
    note = "every check has a scale of its own: the end farther from the bound is drawn at the edge"
    return layout.finish(fig, p.title, note)


def _text(row):
    ends = f" [{row.low:.3g}, {row.high:.3g}]" if row.high > row.low else ""
    value = f"{row.statistic:.3g}{ends} above {row.bound:g}" if np.isfinite(row.statistic) else "no value"
    return f"{row.statement}: {value} ({row.measured})"
