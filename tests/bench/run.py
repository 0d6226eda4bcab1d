"""`make bench`: every benchmark of this folder in one table of ratios; exit code 1 where one is below its bound."""

import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def table(rows):
    """The rows as text: name, ratio, bound and detail under a line of headings."""
    cells = [("name", "ratio", "at least", "detail")]
    cells += [(row["name"], f"{row['ratio']:.1f}", f"{row['at_least']:g}", row["detail"]) for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    return "\n".join(
        f"{name:<{widths[0]}} | {ratio:>{widths[1]}} | {bound:>{widths[2]}} | {detail}"
        for name, ratio, bound, detail in cells
    )


def main():
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read once, when NumPy is imported
    sys.path.insert(0, str(HERE.parents[1] / "scripts"))
    names = sorted(file.stem for file in HERE.glob("*.py") if file.stem != Path(__file__).stem)
    rows = [row for name in names for row in importlib.import_module(name).measure()]
    print(table(rows))
    slow = [row["name"] for row in rows if not row["ratio"] >= row["at_least"]]
    if slow:
        sys.exit(f"below their bounds: {', '.join(slow)}")


if __name__ == "__main__":
    main()
