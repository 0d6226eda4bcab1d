"""The table of claims as text: Markdown, and HTML that works without its script, which adds sorting and filters."""

import html

import numpy as np
from tabulate import tabulate

from carryover.analysis.claims_table import MOST_SEEDS, ORDER, POWER, counts
from carryover.analysis.intervals import COMPUTED

HEADS = ("Verdict", "Claim", "Where", "Statistic", "Criterion", "p", "Seeds", "Data")


def summary(table):
    """One sentence: how many claims have which verdict."""
    found = counts(table)
    words = f"{found['fails']} fail, {found['undecided']} are undecided at this scale, {found['holds']} hold"
    return f"Of {table.sizes['claim']} claims, {words}."


def explanation():
    """How to read the table, in a few sentences."""
    return (
        "A claim says that a statistic lies above a bound that was fixed in advance. Brackets: 95 % interval of the "
        "mean, by what the column of seeds says; over seeds and tasks: the widest of Student's t over seeds, over "
        "tasks, and over both (min F'). p: two-sided p-value; adjusted: for the number of claims, by Benjamini and "
        "Hochberg's procedure. Verdicts are given where the adjusted p-value is below .05, so that of those given one "
        "in twenty is expected to be wrong; claims on the same runs are not independent, which the procedure allows "
        "where they depend positively. Claims that were computed, not drawn, have no p-value. Needed: seeds with which "
        f"a t-test would decide with probability {POWER:g}, were mean and spread as found; on these tasks: about those "
        "alone, so that where there are as many seeds already more tasks are needed."
    )


def markdown(table):
    """The table as GitHub's Markdown, with the summary before and the explanation after."""
    rows = [[" ".join(parts).replace("|", r"\|") for parts in cells(row)] for row in _rows(table)]
    body = tabulate(rows, headers=HEADS, tablefmt="github", disable_numparse=True)
    return f"# Claims\n\n{summary(table)}\n\n{body}\n\n{explanation()}\n"


def cells(row):
    """Texts of one claim's cells, each of a main part and further ones, in the order of `HEADS`."""
    p_value = [] if np.isnan(row.p_value) else [f"{row.p_value:.2g}", f"({row.adjusted_p_value:.2g} adjusted)"]
    alone = [f"({row.verdict_alone} alone)"] if row.verdict_alone != row.verdict else []
    seeds = [str(row.seeds), row.interval, *_needed(row)]
    ends = [] if np.isnan(row.low) else [f"[{row.low:.3g}, {row.high:.3g}]"]
    statistic = ["none" if np.isnan(row.statistic) else f"{row.statistic:.3g}", *ends, row.measured]
    return (
        [row.verdict, *alone], [row.statement, f"({row.Index})"], [row.paper, row.section], statistic,
        [row.criterion], p_value, seeds, [row.data],
    )  # fmt: skip


def _needed(row):
    """How many seeds would decide an open claim, as a list of one text or none."""
    if row.seeds == 0 and row.interval != COMPUTED:
        return ["needed: not known, no run qualifies"]
    if np.isnan(row.seeds_needed):
        return []
    number = f"{row.seeds_needed:.0f}" if np.isfinite(row.seeds_needed) else f"more than {MOST_SEEDS:,}"
    where = " on these tasks" if getattr(row, "tasks", 0) > 1 else ""
    return [f"needed: {number}{where}".replace(",", " ")]


def page(table, note=""):
    """A whole HTML page that needs no other file; `note` is one more line at its end."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Claims</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{PAGE_STYLE}{STYLE}</style></head>\n<body><h1>Claims</h1>\n{fragment(table)}\n"
        f"<p><small>{html.escape(note)}</small></p>\n<script>{SCRIPT}</script></body></html>\n"
    )


def fragment(table):
    """The table with summary, filters and explanation, to stand in a page that has `STYLE` and, at its end, `SCRIPT`.

    The filters are hidden until the script finds them.
    """
    options = {"paper": sorted(set(table["paper"].values.tolist())), "verdict": ORDER}
    choices = "".join(_choice(name, values) for name, values in options.items())
    heads = "".join(f'<th scope="col">{name}</th>' for name in HEADS)
    rows = "\n".join(_row(row) for row in _rows(table))
    return (
        f'<section class="claims"><p>{summary(table)}</p>\n<form hidden>{choices}'
        '<label>text <input type="search" name="text"></label> <output aria-live="polite"></output></form>\n'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Claims"><table><thead><tr>{heads}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>\n<p><small>{html.escape(explanation())}</small></p></section>"
    )


def _rows(table):
    return table.to_dataframe().itertuples()


def _choice(name, values):
    listed = "".join(f"<option>{html.escape(value)}</option>" for value in ("all", *values))
    return f'<label>{name} <select name="{name}">{listed}</select></label> '


def _row(row):
    keys = {"Verdict": ORDER.index(row.verdict), "Statistic": row.statistic, "Criterion": row.bound,
            "p": row.p_value, "Seeds": row.seeds}  # fmt: skip
    found = []
    for head, (first, *rest) in zip(HEADS, (parts or [""] for parts in cells(row)), strict=True):
        key = f' data-sort="{keys[head]}"' if head in keys else ""
        further = "".join(f" <small>{html.escape(part)}</small>" for part in rest)
        found.append(f'<td data-head="{head}"{key}>{html.escape(first)}{further}</td>')
    facts = f'data-paper="{html.escape(row.paper)}" data-verdict="{row.verdict}"'
    return f'<tr id="{html.escape(row.Index)}" {facts}>{"".join(found)}</tr>'


PAGE_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:15px/1.45 system-ui,sans-serif;margin:1.5em auto;max-width:90em;padding:0 1em;"
    "overflow-wrap:break-word}"
)
STYLE = """
.claims{--line:#d5d5d5;--fails:#a40000;--undecided:#765000;--holds:#005f2f}
@media (prefers-color-scheme:dark){.claims{--line:#444;--fails:#ff9a90;--undecided:#f0c36a;--holds:#84d8a5}}
.claims .scroll{overflow-x:auto}
.claims table{border-collapse:collapse;width:100%}
.claims td,.claims th{text-align:left;vertical-align:top;padding:.4em .6em;border-bottom:1px solid var(--line)}
.claims td:nth-child(2){min-width:20em}
.claims small{display:block}
.claims td:first-child{font-weight:bold}
.claims [data-verdict=fails] td:first-child{color:var(--fails)}
.claims [data-verdict=undecided] td:first-child{color:var(--undecided)}
.claims [data-verdict=holds] td:first-child{color:var(--holds)}
.claims th button{font:inherit;font-weight:bold;color:inherit;background:none;border:0;padding:0;cursor:pointer}
.claims th button::after{content:" ↕"}
.claims th[aria-sort=ascending] button::after{content:" ↑"}
.claims th[aria-sort=descending] button::after{content:" ↓"}
.claims label{display:inline-block;margin:0 1em .6em 0}
@media (max-width:50em){
.claims table,.claims tbody,.claims tr,.claims td{display:block}
.claims thead tr{display:flex;flex-wrap:wrap}
.claims th{border:0}
.claims td{border:0;padding:.15em 0}
.claims td:nth-child(2){min-width:0}
.claims tbody tr{border-bottom:1px solid var(--line);padding:.6em 0}
.claims td:not(:nth-child(-n+2)):not(:empty)::before{content:attr(data-head) ": ";font-weight:bold}
.claims tr[hidden]{display:none}}
"""
SCRIPT = """
document.querySelectorAll(".claims").forEach(section => {
  const form = section.querySelector("form"), wanted = form.elements;
  const body = section.querySelector("tbody"), rows = [...body.rows];
  const heads = [...section.querySelectorAll("th")];
  const filter = () => {
    const text = wanted.text.value.trim().toLowerCase();
    const differs = (row, key) => wanted[key].value !== "all" && wanted[key].value !== row.dataset[key];
    rows.forEach(row => {
      row.hidden = differs(row, "paper") || differs(row, "verdict") || !row.textContent.toLowerCase().includes(text);
    });
    form.querySelector("output").textContent = rows.filter(row => !row.hidden).length + " of " + rows.length;
  };
  // What has no number comes last in either direction.
  const compare = (a, b, sign) => {
    if (!("sort" in a.dataset)) return sign * a.textContent.localeCompare(b.textContent);
    const [x, y] = [Number(a.dataset.sort), Number(b.dataset.sort)];
    return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) : sign * (x - y);
  };
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      rows.sort((a, b) => compare(a.cells[column], b.cells[column], down ? -1 : 1));
      body.append(...rows);
    });
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = false;
  filter();
});
"""
