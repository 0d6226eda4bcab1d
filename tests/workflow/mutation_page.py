"""The table of mutation_table.py in docs/audit.md: `python tests/workflow/mutation_page.py` writes it anew."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path += [str(ROOT / "scripts"), str(ROOT / "tests")]

from workflow.mutation_rows import CODE, CONFIGURATION, NOTHING  # noqa: E402
from workflow.mutation_table import RECORDS, RESULTS, SOFTWARE  # noqa: E402

PAGE = ROOT / "docs/audit.md"
BEGIN, END = "<!-- table: made by `python tests/workflow/mutation_page.py` -->", "<!-- end of the table -->"
GROUPS = {
    "No change that counts": NOTHING,
    "Edits of code": CODE,
    "Edits of the configuration": CONFIGURATION,
    "Results and inputs": RESULTS,
    "Records": RECORDS,
    "Software and environment files": SOFTWARE,
}
RULES = {"theory": "curve", "figures": "figure", "diagnoses": "diagnose"}


def table():
    """The table in Markdown, its rows in groups."""
    lines = ["| change | audit | Snakemake runs again |", "|---|---|---|"]
    for name, rows in GROUPS.items():
        lines += [f"| **{name}** | | |", *(f"| {row.name} | {_audit(row)} | {_reruns(row)} |" for row in rows)]
    return "\n".join(lines)


def fill(page):
    """A page with what stands between its two marks replaced by the table."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _audit(row):
    if row.refused:
        return f"refused: {row.refused}"
    found = [f"{verdict}: {_counted(Counter(map(_made_by, paths)))}" for verdict, paths in row.verdicts.items()]
    return "; ".join(found) or (f"OK ({row.says})" if row.says else "OK")


def _reruns(row):
    return "refused likewise" if row.refused else _counted(row.reruns) or "nothing"


def _counted(numbers):
    return ", ".join(f"{number} {rule}" for rule, number in numbers.items())


def _made_by(path):
    """The rule that makes a result, by the folder in which that stands."""
    _, experiment, *inner = Path(path).parts
    if experiment in RULES:
        return RULES[experiment]
    if len(inner) > 2:
        return inner[0]
    return "collect" if inner[0].endswith(".nc") else "file"


def main():
    PAGE.write_text(fill(PAGE.read_text()))


if __name__ == "__main__":
    main()
