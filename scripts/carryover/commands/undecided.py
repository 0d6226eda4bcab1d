"""Say which claims are undecided, what would decide each, and what the seeds that are missing would cost."""

import argparse
from pathlib import Path

import numpy as np
from tabulate import tabulate

from carryover.provenance import record_index, store
from carryover.report import claims_page
from carryover.report.costs import costs, sentence

HEADS = ("claim", "would decide", "seeds", "needed", "cost")


def rows(table, found):
    """Texts of the undecided claims of a table, the cheapest first, unknown costs last; `found` are their costs."""

    def seconds(row):
        known = found[row.Index].seconds if row.Index in found else 0.0
        return np.inf if np.isnan(known) else known  # NaN is in no order with others: the rest would stay unsorted

    for remedy in claims_page.by_remedy(table):
        claims = [row for row in table.to_dataframe().itertuples() if row.would_decide == remedy]
        for row in sorted(claims, key=seconds):
            needed = f"{row.seeds_needed:.0f}" if np.isfinite(row.seeds_needed) else ""
            yield [row.Index, remedy, str(row.seeds), needed, str(found.get(row.Index, ""))]


def main(argv, prog="carryover undecided"):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__, allow_abbrev=False)
    parser.add_argument("results", nargs="?", default="results", metavar="FOLDER", help="default: results")
    file = Path(parser.parse_args(argv).results, "claims.nc")
    table, name = store.load(file), record_index.made(file, below=file.parent).name
    found = costs(table, name, {name: one.record for name, one in record_index.all_made(file.parent).items()})
    print(tabulate(rows(table, found), HEADS, tablefmt="simple", disable_numparse=True))
    print(f"\n{claims_page.summary(table)} {sentence(found)}")
