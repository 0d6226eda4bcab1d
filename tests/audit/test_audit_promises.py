"""The audit's promises as a user meets them: verdicts with causes, replays, and an accepted note."""

import json
import subprocess
import sys

import pytest

import accept
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
    assert (whole.returncode, whole.stdout.splitlines()[0]) == (0, "All 14 artefacts are OK.")
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
        "ALTERED": ([EXACT], "sha256"),
        "STALE-CONFIG": ([DESCENT], "learning_rate 0.02, now 0.03"),
        "STALE-CODE": ([CURVE], f"{PENALTY} has changed"),
        "STALE-INPUT": ([*FIGURE, *THEORY_FIGURE[1:]], f"{STYLE} is not the one it was made of"),
        "STALE-ENV": ([PRETRAINED], "tqdm 9.9, now "),
        "MISSING": ([THEORY_FIGURE[0]], "no file"),
        "UNRECORDED": (["results/tiny/mine.csv"], "no record, and no job makes it"),
        "DOWNSTREAM-OF": ([*SPARSITIES, RISK, SPARSITY], ""),
    }
    done = audited(project, "--json", "audit.json")
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads((project.folder / "audit.json").read_text())["artefacts"]
    assert {row["path"]: row["verdict"] for row in found} == {
        path: verdict for verdict, (paths, _) in expected.items() for path in paths
    }
    for row in found:
        assert expected[row["verdict"]][1] in row["cause"]


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


def test_an_accepted_difference_is_ok(project, capsys, monkeypatch):
    m.put("curves", "relu_penalty", "readout", value=1e-05)(project)
    monkeypatch.setattr(accept, "ROOT", project.folder)
    accept.main(["--reason", "too small to see", str(project.folder / CURVE)])
    assert capsys.readouterr().out == f"{CURVE}: STALE-CONFIG accepted: readout 0.0, now 1e-05\n"
    audit.main([])
    assert "All 14 artefacts are OK, 1 of them by an accepted difference." in capsys.readouterr().out
