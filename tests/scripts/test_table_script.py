"""A table by hand, in process: the same rows in Markdown and LaTeX, with their records."""

import json
from pathlib import Path

import pandas as pd

import table
from carryover.analysis.image_pairs import BOUNDS
from carryover.provenance import job_record, store
from carryover.report import typesetting
from toy.bound_runs import made

FILES = ["bounds.nc", "published.csv"]
WORDS = ["bound_correlations", "--roles", "bounds", "published", "--data", *FILES]
DEVIATION = "published (MNIST): R², mean ± s.d."


def cells(line, between, end=""):
    return [cell.strip() for cell in line.removesuffix(end).strip(between).split(between)]


def test_both_formats_hold_the_rows_and_their_records_are_true(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = made()
    for variable in data.variables.values():
        variable.attrs = {"long_name": "some words", "units": "1"}
    store.save(data, FILES[0])
    rows = [(bound, 10, 0.5, 0.25) for bound in BOUNDS]
    columns = ["bound", "samples", "r_squared", "deviation"]
    pd.DataFrame(rows, columns=columns).to_csv(FILES[1], index=False)
    table.main([*WORDS, "--wildcards", "table=toy", "--output", "toy.md", "toy.tex"])
    markdown, latex = (Path(f"toy.{suffix}").read_text() for suffix in ("md", "tex"))
    lines = markdown.splitlines()
    assert cells(lines[0], "|") == ["bound", "", "n = 10", "n = 20"]
    assert cells(lines[6], "|")[1:] == [DEVIATION, "0.50 ± 0.25", ""]
    body = latex.partition("\\midrule\n")[2].partition("\\bottomrule")[0].splitlines()
    assert len(body) == len(lines) - 4 == 15  # without the head and the comment
    for row, line in zip(body, lines[2:], strict=False):
        assert cells(row, "&", "\\\\") == [cell.replace("%", r"\%") for cell in cells(line, "|")]
    for output in ("toy.md", "toy.tex"):
        record = job_record.read(f"{output}.json")
        assert (record["rule"], set(record["inputs"])) == ("table", set(FILES))
    request = json.loads(Path("toy.md.json").read_text())["request"]
    assert lines[-1] == f"<!-- Carryover request {request} -->"
    assert latex.endswith(f"\n% Carryover request {request}\n")


def test_bars_and_minus_signs_break_no_format():
    rows, heads = [["|x|"], ["\N{MINUS SIGN}1"]], ["a|b"]
    assert typesetting.markdown(rows, heads).splitlines()[2] == r"| \|x\|  |"
    assert "$-$1" in typesetting.latex(rows, heads)
