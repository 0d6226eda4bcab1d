"""The table of claims as text: Markdown, and HTML that works without its script, which adds sorting and filters."""

from collections import Counter

import numpy as np
from tabulate import tabulate

from carryover.analysis.claims_table import DIFFERS, MORE_SEEDS, MOST_SEEDS, ORDER, POWER, counts
from carryover.analysis.intervals import beside
from carryover.templates.rendering import rendered

HEADS = ("Verdict", "Claim", "Statistic", "Criterion", "p", "Seeds")
ELSEWHERE = "Elsewhere"
"""The head of one column more, where claims of other tables are shown beside these."""
ANOTHER_DRAW = "†"  # marks data of which elsewhere the distribution alone is the same
_HALF = 46  # of a picture's width, 100, that its farthest point is away from the bound, which is in the middle


def summary(table):
    """How many claims have which verdict; and where some are undecided, how many of these would be decided by what."""
    number = counts(table)
    words = f"{number['fails']} fail, {number['undecided']} are undecided at this scale, {number['holds']} hold"
    remedies = ", ".join(f"{one} ({count})" for one, count in by_remedy(table).items())
    said = f" These would decide: {remedies}." if remedies else ""
    if "elsewhere" in table:
        other = sum(DIFFERS in text for text in table["elsewhere"].values.tolist())
        said += f" {other} have another verdict in another table, which stands beside theirs."
    return f"Of {table.sizes['claim']} claims, {words}.{said}"


def heads(table):
    """The columns that a table is shown in."""
    return (*HEADS, ELSEWHERE) if "elsewhere" in table else HEADS


def by_remedy(table):
    """{what would decide undecided claims: how many}, what most wait for first."""
    return dict(Counter(filter(None, table["would_decide"].values.tolist())).most_common())


def explanation():
    """How to read the table, in a few sentences."""
    return (
        "A claim says that a statistic lies above a bound that was fixed in advance. Brackets: 95 % interval of the "
        "mean, by what the column of seeds says. p: two-sided p-value; adjusted: for the number of claims, by "
        "Benjamini and Hochberg's procedure. Verdicts are given where the adjusted p-value is below .05, so that of "
        "those given one in twenty is expected to be wrong; claims on the same runs are not independent, which the "
        "procedure allows where they depend positively. Claims that were computed, not drawn, have no p-value. Needed: "
        f"seeds with which a t-test would decide with probability {POWER:g}, were mean and spread as found, and no "
        f"number of seeds where {MOST_SEEDS} would not do (effects of some .03 standard deviations), the statistic is "
        "its bound or nothing was drawn. What seeds cost differs from machine to machine: the report and `carryover "
        "undecided` say it. "
        f"{ANOTHER_DRAW}: some of these data are another draw from the same distribution on another processor, so a "
        "verdict whose interval ends near the bound may be another there; all other data are the same to rounding."
    )


def markdown(table):
    """The table as GitHub's Markdown, paper by paper, with the summary before and the explanation after."""
    papers = []
    for paper, rows in by_paper(table).items():
        texts = [[" ".join(parts).replace("|", r"\|") for parts in cells(row)] for row in rows]
        papers += [f"## {paper}", tabulate(texts, headers=heads(table), tablefmt="github", disable_numparse=True)]
    return "\n\n".join(["# Claims", summary(table), *papers, explanation()]) + "\n"


def cells(row, cost=""):
    """Texts of one claim's cells, each of a main part and further ones, in the order of `heads`; `cost` is that of the
    seeds it needs, in words."""
    p_value = [""] if np.isnan(row.p_value) else [f"{row.p_value:.2g}", f"({row.adjusted_p_value:.2g} adjusted)"]
    alone = [f"({row.verdict_alone} alone)"] if row.verdict_alone != row.verdict else []
    seeds = [str(row.seeds), row.interval, *_needed(row, cost)]
    data = row.data + (ANOTHER_DRAW if row.portable == "distribution" else "")
    ends = [] if np.isnan(row.low) else [f"[{row.low:.3g}, {row.high:.3g}]"]
    elsewhere = [row.elsewhere.split("; ")] if hasattr(row, "elsewhere") else []
    statistic = ["none" if np.isnan(row.statistic) else f"{row.statistic:.3g}", *ends, row.measured]
    return (
        [row.verdict, *alone], [row.statement, f"{row.section};" if row.section else "", f"{row.Index}, of {data}"],
        statistic, [row.criterion], p_value, seeds, *elsewhere,
    )  # fmt: skip


def by_paper(table):
    """{paper: rows of its claims}, worst news first."""
    papers = {}
    for row in table.to_dataframe().itertuples():
        papers.setdefault(row.paper, []).append(row)
    return papers


def picture(row):
    """Where statistic, low and high stand across a picture whose middle is the bound; None where they are not known."""
    places = beside(row)
    return None if places is None else (50 + _HALF * places).round(1).tolist()


def _needed(row, cost):
    """What would decide an open claim, as a list of one text or none."""
    if not row.would_decide:
        return []
    if row.would_decide == MORE_SEEDS:
        return [f"needed: {row.seeds_needed:.0f}" + (f", {cost}" if cost else "")]
    return [f"needed: {row.would_decide}" + (f" up to {MOST_SEEDS}" if np.isinf(row.seeds_needed) else "")]


def page(table, note=""):
    """A whole HTML page that needs no other file; `note` is one more line at its end."""
    return rendered("claims.html.j2", claims=shown(table), note=note)


def shown(table, costs=None, said=""):
    """What claims_table.html.j2 shows of the table; `costs` are {claim: what its missing seeds cost, in words}, `said`
    is a sentence on all of them."""
    costs = costs or {}
    return {
        "summary": f"{summary(table)} {said}".rstrip(),
        "explanation": explanation(),
        "choices": {"paper": list(papers := by_paper(table)), "verdict": ORDER},
        "heads": heads(table),
        "papers": {
            paper: [_shown_row(row, costs.get(row.Index, "")) for row in rows] for paper, rows in papers.items()
        },
    }


def _shown_row(row, cost):
    """A claim's cells by head, and the numbers by which some of them are sorted."""
    numbers = {"Verdict": ORDER.index(row.verdict), "Statistic": row.statistic, "Criterion": row.bound,
               "p": row.p_value, "Seeds": row.seeds}  # fmt: skip
    listed = dict(zip((*HEADS, ELSEWHERE), cells(row, cost), strict=False))
    return {
        "id": row.Index, "paper": row.paper, "verdict": row.verdict, "cells": listed, "numbers": numbers,
        "picture": picture(row),
    }  # fmt: skip
