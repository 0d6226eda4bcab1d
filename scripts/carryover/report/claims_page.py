"""The table of claims as text: Markdown and HTML."""

import numpy as np
from tabulate import tabulate

from carryover.analysis.claims_table import DIFFERS, counts
from carryover.templates.rendering import rendered

HEADS = ("Verdict", "Claim", "Statistic", "Check")


def summary(table):
    """How many claims have which verdict, in one sentence."""
    number = counts(table)
    words = f"{number['fails']} fail, {number['undecided']} are undecided at this scale, {number['holds']} hold"
    other = sum(DIFFERS in text for text in table["elsewhere"].values.tolist()) if "elsewhere" in table else 0
    return f"Of {table.sizes['claim']} claims, {words}." + (
        f" {other} have another verdict elsewhere." if other else ""
    )


def by_paper(table):
    """{paper: its claims as `claims.html.j2` shows them}, worst news first."""
    papers = {}
    for row in table.to_dataframe().itertuples():
        ends = "" if np.isnan(row.low) else f" [{row.low:.3g}, {row.high:.3g}]"
        p_value = "" if np.isnan(row.p_value) else f"{row.p_value:.2g}, adjusted {row.adjusted_p_value:.2g}"
        needed = f" ({row.seeds_needed:.0f} of them)" if np.isfinite(row.seeds_needed) else ""
        check = {
            "bound": row.criterion,
            "measured": row.measured,
            "interval": f"{row.interval} ({row.seeds})",
            "p": p_value,
            "alone": row.verdict_alone if row.verdict_alone != row.verdict else "",
            "would decide": row.would_decide + needed,
            "elsewhere": getattr(row, "elsewhere", ""),
            "data": row.data + (" (another draw on another processor)" if row.portable == "distribution" else ""),
        }
        claim = {"id": row.Index, "verdict": row.verdict, "statement": row.statement, "section": row.section}
        claim["statistic"] = "none" if np.isnan(row.statistic) else f"{row.statistic:.3g}{ends}"
        claim["check"] = {name: text for name, text in check.items() if text}
        papers.setdefault(row.paper, []).append(claim)
    return papers


def markdown(table):
    """The table as GitHub's Markdown, paper by paper."""
    parts = ["# Claims", summary(table)]
    for paper, claims in by_paper(table).items():
        rows = [
            [one["verdict"], f"{one['statement']} ({one['section']}; {one['id']})", one["statistic"],
             "; ".join(f"{name}: {text}" for name, text in one["check"].items())]
            for one in claims
        ]  # fmt: skip
        rows = [[text.replace("|", r"\|") for text in row] for row in rows]
        parts += [f"## {paper}", tabulate(rows, headers=HEADS, tablefmt="github", disable_numparse=True)]
    return "\n\n".join(parts) + "\n"


def page(table, note=""):
    """A whole HTML page that needs no other file; `note` is one more line at its end."""
    return rendered("claims.html.j2", summary=summary(table), papers=by_paper(table), note=note)
