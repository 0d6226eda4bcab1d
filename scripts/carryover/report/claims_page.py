"""The table of claims as text: Markdown and HTML."""

import textwrap
from collections import Counter
from pathlib import Path

import numpy as np

from carryover.claims.support import table as tables
from carryover.claims.support.table import DIFFERS
from carryover.provenance import store
from carryover.templates import rendering
from carryover.workflow import command_line

WIDTH = 100  # letters of a line in Markdown


def main(argv):
    """`claims_table.py GROUP … [--others NAME=FILE …] --output FILE …`: one table of all groups, in several formats."""
    parser = command_line.parser("claims_table.py", "Put all groups of checks together in one table of claims.")
    parser.add_argument("groups", nargs="+", type=Path, metavar="GROUP", help="checked groups of claims")
    parser.add_argument(
        "--others", nargs="+", type=command_line.pair, default=[], metavar="NAME=FILE", help="other tables of claims"
    )
    arguments = parser.parse_args(argv)
    others = {name: Path(file) for name, file in arguments.others}
    with command_line.job("claims_table", arguments, [*arguments.groups, *others.values()]) as job:
        others = {name: tables.read(file) for name, file in others.items()}
        table = tables.gather({file.stem: store.load(file) for file in arguments.groups}, others)
        papers = by_paper(table)
        print(summary(papers))
        for output in arguments.output:
            if output.suffix == ".nc":
                job.save(table, output)
            else:
                write = markdown if output.suffix == ".md" else page
                job.path(output).write_text(write(papers, job.note), encoding="utf-8")


def by_paper(table):
    """{paper: [claim]} of a dataset by `gather`, worst news first; a claim is a dictionary that `claims.html.j2` shows,
    with its `checks`, dictionaries by `_check`."""
    papers: dict = {}
    for name, rows in table.to_dataframe().groupby("headline", sort=False):
        first = rows.iloc[0]
        claim = {
            "id": f"claim-{name}",
            "verdict": first.headline_verdict,
            "statement": first.sentence,
            "section": first.headline_section,
            "elsewhere": first.get("headline_elsewhere", ""),
            "holding": int((rows["verdict"] == "holds").sum()),
            "checks": [_check(row) for row in rows.itertuples()],
        }
        papers.setdefault(first.headline_paper, []).append(claim)
    return papers


def summary(papers):
    """How many claims, as `by_paper` returns them, have which verdict, in one sentence."""
    claims = [claim for found in papers.values() for claim in found]
    number, checks = Counter(claim["verdict"] for claim in claims), sum(len(claim["checks"]) for claim in claims)
    words = f"{number['fails']} fail, {number['undecided']} are undecided at this scale, {number['holds']} hold"
    differ = sum(DIFFERS in claim["elsewhere"] for claim in claims)
    elsewhere = f" {differ} have another verdict elsewhere." if differ else ""
    return f"Of {len(claims)} claims, with {checks} checks, {words}.{elsewhere}"


def _check(row):
    """One check of a row (`itertuples`) of the table: a dictionary of texts, the interval relative to the bound in
    `places`, and everything that a reader unfolds in `facts`."""
    ends = "" if np.isnan(row.low) else f" [{row.low:.3g}, {row.high:.3g}]"
    p_value = "" if np.isnan(row.p_value) else f"{row.p_value:.2g}, adjusted {row.adjusted_p_value:.2g}"
    # In [−1, 1] with the bound at 0 and what is claimed to its right, since checks have no common scale; nothing where
    # a number is not known.
    distances = np.array([row.statistic, row.low, row.high]) - row.bound
    distances = -distances[[0, 2, 1]] if row.bound == row.claimed_high else distances
    known = np.isfinite(distances).all()
    facts = {
        "measured": row.measured,
        "interval": f"{row.interval} ({row.seeds})",
        "p": p_value,
        "alone": row.verdict_alone if row.verdict_alone != row.verdict else "",
        "elsewhere": getattr(row, "elsewhere", ""),
        "data": row.data + (" (another draw on another processor)" if row.portable == "distribution" else ""),
    }
    return {
        "id": row.Index,
        "verdict": row.verdict,
        "statement": row.statement,
        "statistic": "none" if np.isnan(row.statistic) else f"{row.statistic:.3g}{ends}",
        "bound": row.criterion,
        "places": np.round(distances / (np.abs(distances).max() or 1), 3).tolist() if known else None,
        "facts": {name: text for name, text in facts.items() if text},
    }


def markdown(papers, note=""):
    """The claims of `by_paper` in Markdown that reads well in a terminal: a list, with the checks of each below it.

    `note` is a comment."""
    parts = ["# Claims", _fill(summary(papers))]
    for paper, claims in papers.items():
        lines = []
        for claim in claims:
            elsewhere = f"; {claim['elsewhere']}" if claim["elsewhere"] else ""
            lines.append(_fill(f"- **{claim['verdict']}{elsewhere}**: {claim['statement']} ({claim['section']})", "  "))
            for one in claim["checks"]:
                lines.append(_fill("  - {verdict}: {statement}: {statistic} ({bound}; {id})".format(**one), "    "))
        parts += [f"## {paper}", "\n".join(lines)]
    return "\n\n".join([*parts, f"<!-- {note} -->"]) + "\n"


def _fill(text, indent=""):
    """The text in lines of a terminal."""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def page(papers, note=""):
    """A whole HTML page that needs no other file; `note` is one more line at its end."""
    return rendering.render("claims.html.j2", summary=summary(papers), papers=papers, note=note)
