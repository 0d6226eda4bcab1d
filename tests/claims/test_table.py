"""One table of all claims: adjusted p-values, verdicts by them, seeds that would decide, and the order."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_1samp

from carryover.claims.support import checks
from carryover.claims.support import table as claims_table
from carryover.config import claims
from carryover.errors import UserError
from carryover.provenance import store
from carryover.report import claims_page
from carryover.statistics import intervals
from toy.made_up_runs import group

ARCHIVE = Path(__file__).parents[2] / "resources/archive"
SEEDS = np.array([-1.0, 0.0, 0.0, 1.0])


def spread(means, claim=None):
    """Checks, by name, of these means and the spread of `SEEDS`."""
    return group({name: mean + SEEDS for name, mean in means.items()}, claim=claim)


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ({"up": 20.0, "also": 1.6}, "holds"),
        ({"up": 20.0, "down": -1.6}, "fails"),
        ({"up": 20.0, "open": 0.1}, "undecided"),
        ({"down": -1.6, **{f"open{i}": 0.1 for i in range(9)}}, "undecided"),  # fails alone
    ],
)
def test_a_claim_holds_with_all_checks_and_fails_with_one_that_does_among_so_many(means, verdict):
    table = claims_table.gather({"one": spread(means, "whole")})
    assert set(table["headline_verdict"].values.tolist()) == {verdict}


def test_archived_tables_say_what_claims_yaml_says_and_every_claim_has_checks():
    named = [claim for of_paper in claims.read_claims().values() for claim in of_paper]
    tables = [claims_table.read(file) for file in sorted(ARCHIVE.glob("*/claims.csv"))]
    assert sorted({name for table in tables for name in table["headline"]}) == sorted(named)  # each once
    assert len(named) <= 130
    for row in pd.concat(tables).itertuples():
        group, _, name = row.claim.partition("/")
        said = claims.definitions(group, [name])[name]
        for column in ("sentence", "headline_paper", "claimed_low", "claimed_high"):
            assert getattr(row, column) == said[column], (row.claim, column)
        for column in ("statement", "measured"):  # facts of the data stand where claims.yaml has braces
            parts = map(re.escape, re.split(r"{[^}]*}", said[column]))
            assert re.fullmatch(".*".join(parts), getattr(row, column)), (row.claim, column)


@pytest.mark.parametrize(
    ("said", "values", "criterion", "verdict"),
    [({"above": 1}, [1.2, 1.3, 1.4], "above 1", "holds"), ({"below": 1}, [1.2, 1.3, 1.4], "below 1", "fails"),
     ({"below": "log10(100)"}, [1.2, 1.3, 1.4], "below 2", "holds"),
     ({"within": [1, 2]}, [1.2, 1.3, 1.4], "within 1 and 2", "holds"),
     ({"within": [1, 2]}, [1.0, 1.3, 1.6], "within 1 and 2", "undecided"),
     ({"within": [1, 2]}, [2.2, 2.3, 2.4], "within 1 and 2", "fails")],
)  # fmt: skip
def test_a_check_holds_where_its_interval_lies_in_the_claimed_range(
    said, values, criterion, verdict, tmp_path, monkeypatch
):
    claim = {
        "sentence": "it is so",
        "section": "1",
        "checks": {"one/*": {"statement": "it is", "measured": "number", **said}},
    }
    monkeypatch.setattr(claims, "CLAIMS_FILE", tmp_path / "claims.yaml")
    claims.CLAIMS_FILE.write_text(json.dumps({"Paper": {"whole": claim}}))
    row = checks.table(checks.checks({"up": values}), claims.definitions("one", ["up"])).isel(claim=0)
    assert (row["criterion"], row["verdict"]) == (criterion, verdict)
    assert row["p_value"] == pytest.approx(ttest_1samp(values, row["bound"]).pvalue)


@pytest.mark.parametrize(
    ("claim", "check", "said"),
    [({}, {}, "one/up has no direction: say above, below or within"),
     ({"above": 0}, {"below": 1}, "no check reads the bound of the claim"),
     ({}, {"below": 1, "above": 0}, "one of above, below and within is enough"),
     ({}, {"within": [1, 0]}, "within needs the lower bound first"),
     ({"section": ""}, {"above": 0}, "has no section")],
)  # fmt: skip
def test_a_claim_needs_a_section_a_check_one_direction_and_a_bound_a_reader(claim, check, said, tmp_path, monkeypatch):
    whole = {"sentence": "it is so", "section": "1", "checks": {"one/up": {"statement": "it is", **check}}, **claim}
    monkeypatch.setattr(claims, "CLAIMS_FILE", tmp_path / "claims.yaml")
    claims.CLAIMS_FILE.write_text(json.dumps({"Paper": {"whole": whole}}))
    with pytest.raises(UserError, match=f"^claims.yaml: Paper.whole.*{said}"):
        claims.read_claims()


def test_a_check_belongs_to_one_claim(tmp_path, monkeypatch):
    claim = {
        "sentence": "it is so",
        "section": "1",
        "measured": "number",
        "checks": {"one/*": {"statement": "it is", "above": 2.0}},
    }
    monkeypatch.setattr(claims, "CLAIMS_FILE", tmp_path / "claims.yaml")
    claims.CLAIMS_FILE.write_text(json.dumps({"Paper": {"whole": claim}}))
    found = claims.definitions("one", ["up"])["up"]
    assert (found["headline"], found["headline_paper"], found["measured"], found["claimed_low"]) == (
        "whole", "Paper", "number", 2.0)  # fmt: skip
    with pytest.raises(UserError, match="two/up must belong to one claim, not to none"):
        claims.definitions("two", ["up"])
    claims.CLAIMS_FILE.write_text(json.dumps({"Paper": {"whole": claim, "other": claim}}))
    with pytest.raises(UserError, match="one/up must belong to one claim, not to whole and other"):
        claims.definitions("one", ["up"])
    claims.CLAIMS_FILE.write_text(json.dumps({"Paper": {"whole": claim | {"sentense": ""}}}))
    with pytest.raises(UserError, match=r"^claims\.yaml: Paper\.whole: unknown key sentense; allowed here: measured, "):
        claims.definitions("one", ["up"])


def test_by_paper_the_worst_news_comes_first_and_what_no_paper_says_last(tmp_path):
    means = {"up": 20.0, "down": -20.0, "open": 0.1}
    table = claims_table.gather({"a": spread(means), "one": spread(means, "whole")})
    assert table["claim"].values.tolist() == [
        f"{name}/{one}" for name in ("one", "a") for one in ("down", "open", "up")
    ]
    counts = "Of 4 claims, with 6 checks, 2 fail, 1 are undecided at this scale, 1 hold."
    assert claims_page.summary(claims_page.by_paper(table)) == counts
    store.save(table, tmp_path / "claims.nc")
    assert store.load(tmp_path / "claims.nc")["verdict"].values.tolist() == table["verdict"].values.tolist()


def test_what_was_computed_keeps_its_verdict_and_counts_for_no_adjustment():
    computed = group({"sure": 1.0}, estimate=intervals.exact)
    table = claims_table.gather({"drawn": spread({"likely": 1.6}), "computed": computed})
    assert table["verdict"].sel(claim="computed/sure") == "holds"
    assert table["adjusted_p_value"].sel(claim="drawn/likely") == table["p_value"].sel(claim="drawn/likely")


@pytest.fixture
def archived(tmp_path):
    """A table of three checks, as it comes back from a file."""
    table = claims_table.gather({"one": spread({"up": 20.0, "down": -20.0, "gone": 1.0})})
    claims_table.write(table, tmp_path / "claims.csv")
    return table, claims_table.read(tmp_path / "claims.csv")


def test_a_table_comes_back_as_it_was(archived):
    table, again = archived
    for name in ("claim", *claims_table.WORDS):
        assert again[name].tolist() == table[name].values.tolist()
    for name in claims_table.NUMBERS:
        np.testing.assert_array_equal(again[name].astype(float), table[name].values)


def test_verdicts_of_other_tables_are_shown_with_what_differs(archived):
    groups = {"one": spread({"up": 20.0, "down": 0.1}), "two": spread({"new": 20.0})}
    night = archived[1].assign(claimed_low=0.01)
    table = claims_table.gather(groups, {"papers' scale": archived[1], "night": night})
    found = dict(zip(table["claim"].values.tolist(), table["elsewhere"].values.tolist(), strict=True))
    ends = "holds, 20 [18.7, 21.3]"
    assert found["one/up"] == f"papers' scale: {ends}; night: {ends}, to be above 0.01"
    assert found["one/down"].startswith("papers' scale: fails (differs), -20 [")
    assert found["two/new"] == "papers' scale: not known; night: not known"
    papers = claims_page.by_paper(table)
    assert "1 have another verdict elsewhere" in claims_page.summary(papers)
    for page in (claims_page.page(papers), claims_page.markdown(papers)):
        assert page.count("fails (differs)") >= 2


def test_a_file_that_is_no_such_table_is_named(archived, tmp_path):
    lines = (tmp_path / "claims.csv").read_text().splitlines()
    (tmp_path / "none.csv").write_text(lines[0].replace(",statement", "") + "\n")
    with pytest.raises(UserError, match=r"none\.csv is no archived table of claims: it has no column statement"):
        claims_table.read(tmp_path / "none.csv")
