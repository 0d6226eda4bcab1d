"""What a report opens with: of every paper the figure that says most, what its file says came out, and the verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from carryover.analysis.intervals import OWN
from carryover.report.contents import Contents, Figure, Paper
from carryover.report.words import count


@dataclass(frozen=True)
class Overview:
    """Of one paper; `figure` is None where its first figure is not among those shown, `failing` are rows of claims."""

    paper: Paper
    figure: Figure | None
    verdicts: str
    failing: list[Any]


def overviews(contents: Contents, rows: list[Any]) -> list[Overview]:
    """Of every paper that has figures or claims, in the configuration's order, ours last; `rows` are the claims."""
    figures = {figure.name: figure for figure in contents.figures}
    found, papers = [], {one.name: one for one in reversed(contents.papers)}
    for paper in reversed(papers.values()):
        claims = [row for row in rows if row.paper == paper.name]
        if claims or any(figure.paper.name == paper.name for figure in contents.figures):
            failing = [row for row in claims if row.verdict == "fails"]
            found.append(Overview(paper, figures.get(paper.first), _in_words(claims), failing))
    return sorted(found, key=lambda one: one.paper.name == OWN)


def _in_words(claims: list[Any]) -> str:
    if not claims:
        return ""
    number = Counter(row.verdict for row in claims)
    of = f"Of {count(len(claims), 'claim')} {number['holds']} hold, {number['fails']} fail, "
    return f"{of}and {number['undecided']} are undecided at this scale."
