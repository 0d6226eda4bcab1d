"""Claims as a forest plot: the interval of each check with its bound, and what it says."""

import textwrap

import matplotlib.pyplot as plt
import numpy as np

from carryover.claims.support import checks
from carryover.errors import UserError
from carryover.figures.drawing import layout

COLORS = {"holds": "#009E73", "undecided": "#999999", "fails": "#D55E00"}


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
    table = table.assign(text=["\n".join(textwrap.wrap(_text(row), 112)) for row in table.itertuples()])
    table["lines"] = table["text"].str.count("\n") + 1.6  # of text, and a gap
    groups = [rows for _, rows in table.groupby("headline", sort=False)]
    heights = [rows["lines"].sum() for rows in groups]
    size = (10.5, 0.145 * (sum(heights) + 3 * len(groups)) + 1)  # three lines for each title and the space around it
    fig, axes = plt.subplots(
        len(groups), 2, figsize=size, height_ratios=heights, width_ratios=[1, 2.3], squeeze=False, sharey="row"
    )
    for (intervals, texts), rows, height in zip(axes, groups, heights, strict=True):
        first = rows.iloc[0]
        intervals.set(xlim=(-1.15, 1.15), ylim=(height, 0), xticks=[], yticks=[])
        intervals.set_title(
            f"{first.headline_verdict}: {first.sentence}", loc="left", color=COLORS[first.headline_verdict]
        )
        intervals.axvline(0, color="0.5", linewidth=0.8, linestyle=":")
        intervals.grid(False)
        texts.set_axis_off()
        for row, place in zip(rows.itertuples(), rows["lines"].cumsum() - rows["lines"] / 2, strict=True):
            if (places := checks.relative_to_bound(row)) is not None:
                middle, *ends = places
                intervals.plot(ends, [place, place], color=COLORS[row.verdict])
                intervals.plot(middle, place, "o", color=COLORS[row.verdict], label=row.verdict)
            texts.text(0, place, row.text, va="center", fontsize="small")
    axes[-1, 0].set_xticks([0], ["bound"])
    note = "every check has a scale of its own: the end farther from the bound is drawn at the edge"
    return layout.finish(fig, p.title, note)


def _text(row):
    ends = f" [{row.low:.3g}, {row.high:.3g}]" if row.high > row.low else ""
    value = f"{row.statistic:.3g}{ends} above {row.bound:g}" if np.isfinite(row.statistic) else "no value"
    return f"{row.statement}: {value} ({row.measured})"
