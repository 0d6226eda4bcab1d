"""The table of claims as Markdown and HTML, its script, and the program that writes them."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import check_claims
import claims_table as script
from carryover.analysis import claims_table, intervals
from carryover.provenance import job_record, store
from carryover.report import claims_page
from carryover.templates import rendering

SUMMARY = (
    "Of 6 claims, 0 fail, 4 are undecided at this scale, 2 hold. "
    "These would decide: runs that qualify (2), more seeds (2)."
)
VALUES = {"up": [1.0, 1.1, 1.2], "open": [-1.0, 0.0, 1.5], "none": [np.nan]}


def group(paper="Papér & co", portable="rounding"):
    rows = [(name, f"|{name}| <is> above 0", values, 0.0) for name, values in VALUES.items()]
    checked = intervals.table(rows, "Fig. 1", "number")
    return check_claims.with_origin(checked, [paper] * len(rows), [Path("toy/risk.nc")], portable)


@pytest.fixture(scope="module")
def table():
    return claims_table.gathered({"one": group(), "two": group("Other", "distribution")})


class Reader(HTMLParser):
    """Texts of the cells, row by row, and the attributes of the rows; fails where tags do not close in order."""

    def __init__(self):
        super().__init__()
        self.open, self.rows, self.attributes, self.loaded = [], [], [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "input"):
            self.open.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
            self.attributes.append(dict(attrs))
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


def test_the_page_is_whole_and_says_what_the_table_says(table):
    reader = Reader()
    reader.feed(claims_page.page(table, "note <1>"))
    assert reader.open == reader.loaded == []
    head, *rows = zip(reader.attributes, reader.rows, strict=True)
    assert head[1] == list(claims_page.HEADS)
    assert [row for attributes, row in rows if "id" not in attributes] == [["Other"], ["Papér & co"]]
    by_id = {attributes["id"]: row for attributes, row in rows if "id" in attributes}
    assert list(by_id) == table["claim"].values.tolist()
    for row, found in zip(by_id.values(), table.to_dataframe().itertuples(), strict=True):
        for cell, parts in zip(row, claims_page.cells(found), strict=True):
            assert " ".join(cell.split()) == " ".join(parts)
    assert by_id["one/up"][1] == "|up| <is> above 0 Fig. 1; one/up, of toy/risk"
    assert by_id["two/up"][1] == "|up| <is> above 0 Fig. 1; two/up, of toy/risk†"
    assert by_id["one/none"][2:5] == ["none number", "above 0", ""]
    assert re.search(r"needed: \d+$", by_id["one/open"][5])
    assert by_id["one/none"][5] == "0 Student's t over seeds needed: runs that qualify"


def test_markdown_has_a_row_for_each_claim_and_no_bar_too_many(table):
    lines = [line for line in claims_page.markdown(table).splitlines() if line.startswith("|")]
    assert len(lines) == 2 * 2 + table.sizes["claim"]  # a head for each of two papers
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {len(claims_page.HEADS) + 1}
    assert claims_page.summary(table) == SUMMARY
    decided = table.isel(claim=table["claim"].str.endswith("up").values)
    assert claims_page.summary(decided) == "Of 2 claims, 0 fail, 0 are undecided at this scale, 2 hold."


@pytest.fixture
def groups(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        store.save(group(), tmp_path / f"{name}.nc")
    return ["one.nc", "two.nc"]


def test_the_program_writes_every_format_with_its_record(groups, tmp_path, capsys):
    outputs = ["claims.nc", "claims.md", "claims.html"]
    script.main([*groups, "--output", *outputs])
    assert capsys.readouterr().out == f"{SUMMARY}\n"
    assert store.load("claims.nc")["claim"].values[0] == "one/none"
    request = json.loads((tmp_path / "claims.nc.json").read_text())["request"]
    for output in outputs[1:]:
        assert f"Carryover request {request}" in (tmp_path / output).read_text()
        assert set(job_record.read(f"{output}.json")["inputs"]) == {
            *groups,
            *map(job_record.shown, rendering.files("claims_table")),
        }
    before = [(tmp_path / output).read_bytes() for output in outputs]
    script.main([*groups, "--output", *outputs])
    assert [(tmp_path / output).read_bytes() for output in outputs] == before
