"""Numbers on pages are compared with the claims that they quote, and titles with those that they state."""

import pytest

import findings
from carryover.analysis import claims_table, intervals

PAGE = """Gains are +4.0 [1.9, 6.1]<!-- one/gain * 100 -->, and .04<!-- one/gain --> as a share;
lost is −.5<!-- one/loss -->.

<!-- verdicts -->
old
<!-- end -->
"""


@pytest.fixture(scope="module")
def table():
    rows = [("gain", "it gains", [0.03, 0.04, 0.05], 0.0), ("loss", "it loses nothing", [-0.5, -0.5], 0.0)]
    checked = intervals.table(rows).assign(paper=("claim", ["A", "B"]), data=("claim", ["", ""]))
    return claims_table.gathered({"one": checked})


def test_what_is_written_is_what_was_found(table):
    found = findings.written(PAGE, table)
    assert "+4.0 [1.5, 6.5]<!-- one/gain * 100 -->, and .04<!-- one/gain --> as a share;" in found
    rows = [line.replace(" ", "") for line in found.splitlines()]
    assert {"|claimsof||holds|undecided|fails|", "|A|1|1|0|0|", "|all|2|1|0|1|"} <= {*rows}
    assert findings.stale(found, table, exactly=True) == []
    assert findings.written(found, table) == found


def test_a_number_is_stale_beyond_the_interval_or_with_another_digit(table):
    assert findings.stale(PAGE, table) == []
    assert findings.stale(PAGE, table, exactly=True) == [
        "+4.0 [1.9, 6.1] is now +4.0 [1.5, 6.5] (one/gain)", "the table of verdicts is another one now",
    ]  # fmt: skip
    assert findings.stale("7.0<!-- one/gain * 100 -->", table) == ["7.0 is now 4.0 (one/gain)"]
    assert findings.stale("−4<!-- one/gain * -100 -->, −6<!-- one/gain * -100 -->", table) == []
    assert findings.stale("1<!-- one/other -->", table) == ["one/other is no claim"]


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [(0.04, ".3", ".0"), (-0.126, "+.12", "−.13"), (0.126, "+.12", "+.13"), (12.34, "1.2", "12.3"),
     (-0.001, "−.10", ".00"), (0.7, "0.3", "0.7"), (1.26, ".3", "1.3"), (-3.0, "5", "−3")],
)  # fmt: skip
def test_numbers_are_printed_as_before(value, like, text):
    assert findings.in_print(value, like) == text


def test_titles_state_claims_that_hold(table):
    figures = {
        "true": {"rests_on": ["one/gain"]}, "false": {"rests_on": ["one/gain", "one/loss"]},
        "none": {"rests_on": ["one/other"]}, "silent": {},
    }  # fmt: skip
    assert findings.untrue_titles(figures, table) == [
        "figures.false: one/loss fails",
        "figures.none: one/other is none",
    ]


def test_sentences_rest_on_claims_that_hold(table):
    assert findings.stale("It gains. <!-- rests on one/gain -->", table) == []
    assert findings.stale("It gains.\n<!-- rests on one/gain\none/loss one/other -->", table) == [
        "what rests on it: one/loss fails", "what rests on it: one/other is none",
    ]  # fmt: skip


def test_an_archived_table_says_the_same(table, tmp_path):
    findings.archive(table, tmp_path / "claims.csv")
    again = findings.archived(tmp_path / "claims.csv")
    assert findings.written(PAGE, again) == findings.written(PAGE, table)
    assert again["statement"].values.tolist() == table["statement"].values.tolist()
    assert findings.ARCHIVED.search("a <!-- claims archived in docs/claims.csv --> b")["file"] == "docs/claims.csv"


def test_a_page_can_have_all_claims(table):
    page = "Claims:\n\n<!-- claims -->\n<!-- end -->\n"
    found = findings.written(page, table)
    assert "| one/gain | it gains" in found
    assert "| 0.04 [0.0152, 0.0648] | above 0     | holds     |" in found
    assert findings.stale(found, table, exactly=True) == []
    assert findings.stale(page, table, exactly=True) == ["the table of claims is another one now"]


def test_an_archived_table_has_the_claims_of_its_configuration_and_no_untrue_title(table):
    figures = {"true": {"rests_on": ["one/gain"]}, "false": {"rests_on": ["one/loss"]},
               "unknown": {"rests_on": ["one/other"]}}  # fmt: skip
    said = ["figures.false: one/loss fails", "figures.unknown: one/other is none"]
    assert findings.unlike({"claims": {"one": {}}, "figures": figures}, table) == said
    assert findings.unlike({"claims": {"two": {}}, "figures": {}}, table) == [
        "claims.one are archived, and not made", "claims.two are made, and not archived",
    ]  # fmt: skip


def test_archived_tables_say_what_their_pages_say():
    assert findings.main("--archived") == 0
