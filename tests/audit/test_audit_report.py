"""The page of an audit has everything and escapes what it shows."""

from types import SimpleNamespace

from markupsafe import escape

from carryover.audit import report
from carryover.audit.replay import Replay
from carryover.audit.verdicts import VERDICTS, Finding


def test_the_page_has_everything_and_runs_nothing_of_it():
    evil = "<script>alert('&')</script>"
    findings = [Finding(f"results/{verdict}.nc", "curve", verdict, "because") for verdict in VERDICTS[::-1]]
    chain = SimpleNamespace(others=["results/paper"], lasting={}, root="abc")
    audit = SimpleNamespace(findings=dict(enumerate([*findings, Finding(evil, "curve", "OK", "")])), chain=chain)
    page = report.as_html(audit, [Replay(evil, "DIFFERS", "not as recorded", ["numpy 1, now 2"], promise="bits")])
    assert "<script" not in page
    assert page.count(str(escape(evil))) == 2
    for text in (*VERDICTS, "DIFFERS", "not as recorded; numpy 1, now 2", "configuration's: results/paper", "abc"):
        assert escape(text) in page
    assert [line.split()[0] for line in report.text(findings).splitlines()] == list(VERDICTS[:-1])
