"""Reports say everything, worst first, and escape what they show; exit codes follow the verdicts."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
import yaml
from markupsafe import escape

from carryover.audit import report
from carryover.audit.replay import Replay
from carryover.audit.verdicts import VERDICTS, Cause, Finding
from carryover.commands import audit
from toy.small_project import ENVIRONMENT, Project
from workflow import file_changes
from workflow import mutations as m

CURVE = "results/theory/relu_penalty.nc"
slow = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]


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


def test_one_sentence():
    assert report.summary([]) == "There is nothing to audit."
    assert report.summary([found("OK")] * 3) == "All 3 artefacts are OK."
    counted = [found("OK"), found("STALE-ENV"), found("ALTERED"), found("OK")]
    assert report.summary(counted) == "Of 4 artefacts: 1 ALTERED, 1 STALE-ENV, 2 OK."


def test_what_is_ok_by_a_note_alone_is_counted():
    accepted = replace(found("OK"), accepted=[Cause("STALE-CODE", "because")])
    altered = replace(accepted, verdict="ALTERED")
    assert report.summary([found("OK"), accepted]) == "All 2 artefacts are OK, 1 of them by an accepted difference."
    said = "Of 2 artefacts: 1 ALTERED, 1 OK, 1 of them by an accepted difference."
    assert report.summary([altered, accepted]) == said
    assert report.summary([altered]) == "Of 1 artefacts: 1 ALTERED."


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
    assert page.seen <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "p",
        "code",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
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


def test_json_has_everything():
    replays = [Replay("p", "SAME", "same bytes", kept=True)]
    read = json.loads(report.as_json(outcome(EACH, strict=True, asked_root="x", replays=replays)))
    assert (read["root"], read["notes"], read["verdicts"]) == ("abc", "def", dict.fromkeys(VERDICTS, 1))
    assert (read["passed"], read["strict"], read["asked_root"], read["has_asked_root"]) == (False, True, "x", False)
    assert (read["passed_over"], read["not_compared"]) == (["results/paper", "results/kept"], ["tqdm"])
    assert (read["bytes"], read["packages"], read["packages_without_hashes"]) == (False, False, ["rich"])
    assert [row["verdict"] for row in read["artefacts"]] == list(VERDICTS)
    shown = {"path", "rule", "verdict", "cause", "causes", "remarks", "accepted", "reencoded"}
    assert read["artefacts"][0].keys() == shown
    replay = {"path": "p", "verdict": "SAME", "text": "same bytes", "place": [], "kept": True, "promise": "rounding"}
    assert (read["replays"], read["signature"]) == ([replay], None)


@pytest.mark.parametrize(
    ("told", "passes", "matched"),
    [
        ({}, True, None),
        ({"strict": True}, False, None),
        ({"asked_root": "abc"}, True, True),
        ({"asked_root": "x"}, False, False),
        ({"replays": [Replay("p", "DIFFERS", "", ["x"])]}, False, None),
        ({"replays": [Replay("p", "DIFFERS", "", ["x"], True)]}, True, None),
        ({"replays": [Replay("p", "FAILED", "")]}, False, None),
    ],
)
def test_json_says_whether_it_passed_and_why_not(told, passes, matched):
    read = json.loads(report.as_json(outcome([found("OK"), found("STALE-ENV")], **told)))
    assert (read["passed"], read["has_asked_root"]) == (passes, matched)


def run(*words):
    """Exit code of `carryover audit` in this process."""
    try:
        audit.main(list(words))
    except SystemExit as end:
        return end.code
    return 0


class TestCommand:
    pytestmark = slow

    def test_exit_codes_and_files(self, project, capsys):
        assert run("results/", "--json", "results/audit.json", "--html", "results/audit.html") == 0
        said = capsys.readouterr().out.splitlines()
        assert said[0] == "All 14 artefacts are OK."
        root = json.loads((project.folder / "results/audit.json").read_text())["root"]
        assert said[1].startswith("Not checked: the files of installed packages")
        assert said[2] == f"Root digest of 14 records: {root}"
        assert run("--root", root) == 0
        assert run("--root", root.upper()) == 0
        assert run("--root", "0" * 64) == 1
        assert "The root digest is not the one that was given" in capsys.readouterr().out
        m.replace("envs/lock.txt", "\ntqdm==", "\ntqdm==9.9 # not ")(project)
        assert (run(), run("--strict")) == (0, 1)
        m.on(CURVE, file_changes.one_value)(project)
        assert run() == 1
        assert capsys.readouterr().out.splitlines()[-10].split()[:2] == ["ALTERED", CURVE]

    def test_a_replay_that_does_not_keep_what_is_promised_fails(self, project, capsys, monkeypatch):
        for verdict, kept in (("SAME", True), ("ROUNDED", True), ("DIFFERS", True), ("DIFFERS", False)):
            replays, code = [Replay("p", verdict, "text", ["x"], kept, "distribution")], 0 if kept else 1
            monkeypatch.setattr(audit.replay, "replay", lambda *told, replays=replays: replays)
            assert run("--replay", "2", "--seed", "3") == code
            head, line = capsys.readouterr().out.splitlines()[:2]
            assert head == "Replay, --seed 3 (in brackets what is promised of the job elsewhere):"
            assert line == f"{verdict:<7}  p  [distribution]  text"

    def test_a_name_that_is_no_utf_8_is_escaped(self, project):
        (project.folder / os.fsdecode(b"results/\xff.csv")).write_text("1\n")
        words = ["scripts/audit.py", "--json", "a.json", "--html", "a.html"]
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (1, "")
        assert r"results/\udcff.csv  no record, and no job makes it" in done.stdout
        assert json.loads((project.folder / "a.json").read_text())["artefacts"][0]["path"] == "results/\udcff.csv"
        assert r"results/\udcff.csv" in (project.folder / "a.html").read_text()

    def test_bad_input_is_one_sentence(self, project, capsys):
        with pytest.raises(SystemExit) as end:
            audit.parsed(["--replay", "0"], "audit")
        assert (end.value.code, "--replay: it must be a whole number ≥ 1" in capsys.readouterr().err) == (2, True)
        for root in ("", "0" * 63, "x" * 64):
            with pytest.raises(SystemExit) as end:
                audit.parsed(["--root", root], "audit")
            said = f"argument --root: it must be a root digest, which has 64 hexadecimal digits, not '{root}'"
            assert (end.value.code, said in capsys.readouterr().err) == (2, True)
        for wrong in ("nowhere", "Makefile"):
            with pytest.raises(ValueError, match=f"{wrong} is no folder: name that of the results"):
                audit.main([wrong])
        for text, sentence in [("experiments: {a: 3}", "experiments.a: 3 is not allowed"), ("[1]", "sections of keys")]:
            (project.folder / "other.yaml").write_text(text)
            with pytest.raises(ValueError, match=sentence):
                audit.main(["--configfile", "other.yaml"])
        for name, sentence in [("gone.yaml", "gone.yaml: No such file"), ("Makefile", "Makefile cannot be read")]:
            with pytest.raises(ValueError, match=sentence):
                audit.main(["--configfile", name])

    def test_overlays_and_results_folder_are_those_of_the_command_line(self, project, capsys):
        overlay = {"curves": {"relu_penalty": {"readout": 1e-05}}}
        for name, text in (("o.yaml", yaml.safe_dump(overlay)), ("o.json", json.dumps(overlay))):
            (project.folder / name).write_text(text)
            assert run("--configfile", "config/config.yaml", name) == 1
            assert "readout 0.0, now 1e-05" in capsys.readouterr().out
        m.copy_theory("results/paper")(project)
        assert run() == 0
        assert "Passed over, as another configuration's: results/paper.\n" in capsys.readouterr().out
        os.rename("results", "other")
        assert run("other") == 1
        assert "16 UNRECORDED" in capsys.readouterr().out  # their records are of results/, as paths go

    def test_notes_rerun_nothing_and_the_rule_knows_overlays_and_repairs_nothing(self, finished_project, tmp_path):
        copy = Project(shutil.copytree(finished_project.folder, tmp_path / "p"), None)
        command = [sys.executable, "-m", "snakemake", "--cores", "1"]
        told = {"cwd": copy.folder, "env": ENVIRONMENT, "capture_output": True, "text": True, "timeout": 60}
        m.record(CURVE, lambda record: record.update(notes=[]))(copy)  # as accept.py does
        assert "Nothing to be done" in subprocess.run([*command, "--dry-run"], **told).stdout
        (copy.folder / CURVE).unlink()
        (copy.folder / "overlay.yaml").write_text("curves: {relu_penalty: {readout: 1.0e-05}}")
        done = subprocess.run([*command, "audit", "--configfile", "overlay.yaml"], **told)
        assert done.returncode == 1
        assert re.search(rf"^MISSING +{CURVE} +no file$", done.stderr, re.MULTILINE)
        assert not (copy.folder / CURVE).exists()
        assert "DOWNSTREAM-OF" in (copy.folder / "results/audit.html").read_text()
        config = json.loads((copy.folder / "results/logs/audit.config.json").read_text())
        assert config["curves"]["relu_penalty"]["readout"] == 1e-05
