"""The audit's promises as a user meets them: verdicts with causes, and replays."""

import json
import os
import subprocess
import sys

import pytest

from carryover.commands import audit
from toy.small_project import DESCENT, ENVIRONMENT, EXACT
from workflow import mutations as m
from workflow.mutation_table import CURVE, FIGURE, PENALTY, PRETRAINED, RISK, SPARSITIES, SPARSITY, STYLE, THEORY_FIGURE

pytestmark = pytest.mark.xdist_group("audit")


def audited(project, *words, **variables):
    command = [sys.executable, "scripts/audit.py", *words]
    return subprocess.run(
        command, cwd=project.folder, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=300
    )


def test_promise_the_audit_names_what_is_not_as_recorded_and_why(project):
    """In a folder that was moved."""
    whole = audited(project)
    assert (whole.returncode, whole.stdout.splitlines()[0]) == (0, "All 14 results are OK.")
    for change in (
        m.on(EXACT, m.one_value),
        m.rate(0.03),
        m.append(PENALTY, "\nNEW = 1\n"),
        m.append(STYLE, "axes.grid: True\n"),
        m.record(PRETRAINED, lambda record: record["environment"]["versions"].update(tqdm="9.9")),
        m.delete(THEORY_FIGURE[0]),
        m.append("results/tiny/mine.csv", "1\n"),
    ):
        change(project)
    expected = {
        EXACT: ("ALTERED", "sha256"),
        DESCENT: ("STALE", "configuration: learning_rate 0.02"),
        CURVE: ("STALE", f"code: {PENALTY} changed"),
        PRETRAINED: ("STALE", "software: tqdm 9.9 → "),
        THEORY_FIGURE[0]: ("MISSING", "no file"),
        "results/tiny/mine.csv": ("UNRECORDED", "no record, and no job makes it"),
        SPARSITIES[0]: ("STALE", f"input: {EXACT} upstream"),
        **dict.fromkeys([*FIGURE, *THEORY_FIGURE[1:]], ("STALE", f"input: {STYLE} is not the one it was made of")),
        **dict.fromkeys([SPARSITIES[1], RISK, SPARSITY], ("STALE", f"{DESCENT} upstream")),
    }
    done = audited(project, "--json", "audit.json", "--html", "audit.html")
    assert (done.returncode, done.stderr) == (1, "")
    found = {row["path"]: row for row in json.loads((project.folder / "audit.json").read_text())["results"]}
    assert {path: row["verdict"] for path, row in found.items()} == {path: one[0] for path, one in expected.items()}
    for path, (_, cause) in expected.items():
        assert cause in found[path]["cause"]
        assert path in (project.folder / "audit.html").read_text()


def stamps(project):
    files = (path for path in project.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in files}


def test_promise_a_replay_gives_the_same_bytes_elsewhere(project):
    """With another number of threads; nothing in the project changes."""
    before = stamps(project)
    done = audited(project, "--replay", "2", "--seed", "0", OMP_NUM_THREADS="2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("SAME") == 2
    assert stamps(project) == before


def run(*words):
    """Exit code of `carryover audit` in this process."""
    try:
        audit.main(list(words))
    except SystemExit as end:
        return end.code
    return 0


def test_exit_codes_and_bad_input(project, monkeypatch):
    monkeypatch.setattr(audit, "project_here", lambda: project.folder)
    m.record(CURVE, lambda record: record["environment"]["versions"].update(numpy="1.0"))(project)
    assert (run("results/"), run("--strict")) == (0, 1)
    for words, sentence in [
        (["nowhere"], "nowhere is no folder: name that of the results"),
        (["--configfile", "gone.yaml"], "gone.yaml: No such file"),
        (["--configfile", "Makefile"], "Makefile cannot be read"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            run(*words)


def test_overlays_and_results_folder_are_those_of_the_command_line(project, capsys, monkeypatch):
    monkeypatch.setattr(audit, "project_here", lambda: project.folder)
    whole = project.config()
    (project.folder / "overlay.yaml").write_text(json.dumps({part: whole[part] for part in ("curves", "figures")}))
    m.configure(m.forget_theory)(project)
    assert (run(), run("--configfile", "config/config.yaml", "overlay.yaml")) == (1, 0)
    said = "no job makes it; for the results of an overlay name its files with --configfile"
    assert capsys.readouterr().out.count(f"configuration: {said}") == 4
    os.rename("results", "other")
    assert run("other") == 1
    assert "14 ALTERED" in capsys.readouterr().out  # their records are of results/, as paths go
