"""Reports say everything, worst first, and escape what they show; exit codes follow the verdicts."""

import os
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from markupsafe import escape

from carryover.audit import report
from carryover.audit.replay import Replay
from carryover.audit.verdicts import VERDICTS, Finding
from carryover.commands import audit
from workflow import mutations as m


def found(verdict, path="results/a.nc", cause="because", remarks=()):
    return Finding(path, "curve", verdict, "" if verdict == "OK" else cause, (), remarks)


def outcome(findings, **told):
    """An audit of these findings, in which one folder was passed over and one package is absent."""
    chain = SimpleNamespace(others=["results/paper"], crates=["results/kept"], lasting={})
    by_path = dict(enumerate(findings))
    software, also = SimpleNamespace(without_hashes=["rich"]), {"absent": ["tqdm"], "packages": False}
    audit = SimpleNamespace(findings=by_path, chain=chain, software=software, root="abc", notes="def", **also)
    return report.Outcome(audit, **told)


EACH = [found(verdict, f"results/{len(VERDICTS) - number:02}.nc") for number, verdict in enumerate(reversed(VERDICTS))]


def test_the_table_is_worst_first_and_leaves_out_what_is_simply_ok():
    lines = report.text([*EACH, found("OK", "results/z.nc", remarks=["accepted: so"])]).splitlines()
    assert [line.split()[0] for line in lines] == list(VERDICTS)
    assert lines[0].split() == ["ALTERED", "results/01.nc", "because"]
    assert lines[-1].split(maxsplit=2)[1:] == ["results/z.nc", "accepted: so"]
    assert report.text([found("OK")]) == ""


@pytest.mark.parametrize("verdict", VERDICTS)
def test_only_a_warning_passes_and_not_if_strict(verdict):
    findings = [found("OK"), found(verdict)]
    assert report.passed(findings) == (verdict in ("OK", "STALE-ENV"))
    assert report.passed(findings, strict=True) == (verdict == "OK")


class Page(HTMLParser):
    """The cells of a page, and the elements that are left open or are none of the page's."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open, self.seen = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] in (["td"], ["th"]):
            self.cells.append(data)


def test_the_page_has_everything_and_runs_nothing_of_it():
    evil = "<script>alert('&')</script>"
    replays = [Replay(evil, "DIFFERS", "not as recorded", ["numpy 1, now 2"], promise="bits")]
    text = report.as_html(outcome([*EACH, found("OK", evil)], replays=replays))
    page = Page(text)
    assert not page.open
    assert "script" not in page.seen
    assert page.cells.count(evil) == 2
    assert {*VERDICTS, "DIFFERS", "bits", "not as recorded; numpy 1, now 2"} <= set(page.cells)
    assert "http" not in text
    said = (
        "as exported crates: results/kept.",
        "so not checked: rich.",
        "Not checked: the files of installed packages",
    )
    for sentence in ("as another configuration's: results/paper.", "so not compared: tqdm.", "records: abc", *said):
        assert escape(sentence) in text


def run(*words):
    """Exit code of `carryover audit` in this process."""
    try:
        audit.main(list(words))
    except SystemExit as end:
        return end.code
    return 0


@pytest.mark.xdist_group("audit")
def test_exit_codes(project, capsys):
    assert run("results/", "--html", "results/audit.html") == 0
    assert capsys.readouterr().out.splitlines()[0] == "All 14 artefacts are OK."
    m.replace("envs/lock.txt", "\ntqdm==", "\ntqdm==9.9 # not ")(project)
    assert (run(), run("--strict")) == (0, 1)


@pytest.mark.xdist_group("audit")
def test_a_replay_that_does_not_keep_what_is_promised_fails(project, monkeypatch):
    for verdict, kept in (("SAME", True), ("DIFFERS", True), ("DIFFERS", False)):
        replays = [Replay("p", verdict, "text", ["x"], kept, "distribution")]
        monkeypatch.setattr(audit.replay, "replay", lambda *_, replays=replays: replays)
        assert run("--replay", "2", "--seed", "3") == (0 if kept else 1)


@pytest.mark.xdist_group("audit")
def test_bad_input_is_one_sentence(project):
    for wrong in ("nowhere", "Makefile"):
        with pytest.raises(ValueError, match=f"{wrong} is no folder: name that of the results"):
            audit.main([wrong])
    for name, sentence in [("gone.yaml", "gone.yaml: No such file"), ("Makefile", "Makefile cannot be read")]:
        with pytest.raises(ValueError, match=sentence):
            audit.main(["--configfile", name])


@pytest.mark.xdist_group("audit")
def test_overlays_and_results_folder_are_those_of_the_command_line(project, capsys):
    (project.folder / "o.yaml").write_text("curves: {relu_penalty: {readout: 1.0e-05}}")
    assert run("--configfile", "config/config.yaml", "o.yaml") == 1
    assert "readout 0.0, now 1e-05" in capsys.readouterr().out
    os.rename("results", "other")
    assert run("other") == 1
    assert "14 UNRECORDED" in capsys.readouterr().out  # their records are of results/, as paths go
