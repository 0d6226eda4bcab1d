"""Numbers on pages are compared with the claims that they quote, and titles with those that they state."""

import pytest

import findings
from carryover.claims.support import table as claims_table
from toy.made_up_runs import group

PAGE = """Gains are +4.0 [1.9, 6.1]<!-- one/gain * 100 -->, and .04<!-- one/gain --> as a share;
lost is −.5<!-- one/loss -->.

<!-- verdicts -->
old
<!-- end -->
"""


@pytest.fixture(scope="module")
def table():
    return claims_table.gathered({"one": group({"gain": [0.03, 0.04, 0.05], "loss": [-0.5, -0.5]})})


def test_what_is_written_is_what_was_found(table):
    found = findings.written(PAGE, table)
    assert "+4.0 [1.5, 6.5]<!-- one/gain * 100 -->, and .04<!-- one/gain --> as a share;" in found
    rows = [line.replace(" ", "") for line in found.splitlines()]
    assert {"|claimsof||holds|undecided|fails|checks|", "|Carryover|2|1|0|1|2|", "|all|2|1|0|1|2|"} <= {*rows}
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


def test_sentences_rest_on_claims_that_hold(table):
    assert findings.stale("It gains. <!-- rests on one/gain -->", table) == []
    assert findings.stale("It gains.\n<!-- rests on one/gain\none/loss one/other -->", table) == [
        "what rests on it: one/loss fails", "what rests on it: one/other is none",
    ]  # fmt: skip


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
