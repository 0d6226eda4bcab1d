"""Numbers on pages are compared with the claims and records that they quote, and titles with claims."""

import pytest

import findings
from carryover.claims.support import table as claims_table
from toy.made_up_runs import group

PAGE = """Gains are +4.0 [1.9, 6.1]<!--one/gain*100-->, and .04<!--one/gain--> as a share;
lost is −.5<!--one/loss-->. It takes 7.00 minutes<!--record.json clock/60-->.
"""


@pytest.fixture(scope="module")
def table():
    groups = {"one": group({"gain": [0.03, 0.04, 0.05], "loss": [-0.5, -0.5]})}
    return claims_table.gather(groups).to_dataframe()


def test_a_number_is_stale_with_another_digit_and_what_is_written_is_not(table, tmp_path, monkeypatch):
    monkeypatch.setattr(findings, "ROOT", tmp_path)
    (tmp_path / "record.json").write_text('{"clock": 450}')
    assert findings.stale(PAGE, table) == [
        "+4.0 [1.9, 6.1] is now +4.0 [1.5, 6.5] (one/gain)", "7.00 minutes is now 7.50 minutes (record.json)",
    ]  # fmt: skip
    found = findings.written(PAGE, table)
    assert "+4.0 [1.5, 6.5]<!--one/gain*100-->, and .04<!--one/gain--> as a share;" in found
    assert findings.stale(found, table) == []
    assert findings.stale("1<!--one/other-->", table) == ["one/other is not known"]
    assert findings.stale("much<!--one/gain*100-->", table) == ["no number stands before <!--one/gain*100-->"]


def test_sentences_rest_on_claims_that_hold(table):
    assert findings.stale("It gains. <!-- supported by one/gain -->", table) == []
    assert findings.stale("It gains.\n<!-- supported by one/gain\none/loss one/other -->", table) == [
        "what rests on it: one/loss fails", "what rests on it: one/other is not known",
    ]  # fmt: skip


def test_an_archived_table_has_the_claims_of_its_configuration_and_no_untrue_title(table):
    figures = {"true": {"supported_by": ["one/gain"]}, "false": {"supported_by": ["one/loss"]},
               "unknown": {"supported_by": ["one/other"]}}  # fmt: skip
    said = ["figures.false: one/loss fails", "figures.unknown: one/other is not known"]
    assert findings.unlike({"claims": {"one": {}}, "figures": figures}, table) == said
    assert findings.unlike({"claims": {"two": {}}, "figures": {}}, table) == [
        "claims.one are archived, and not made", "claims.two are made, and not archived",
    ]  # fmt: skip


def test_pages_say_what_archived_claims_and_records_say():
    assert findings.main() == 0
