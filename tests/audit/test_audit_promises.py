"""The audit's promises as a user meets them: verdicts with causes, and replays."""

import json
import subprocess
import sys

import pytest

from toy.small_project import DESCENT, ENVIRONMENT, EXACT
from workflow import mutations as m
from workflow.mutations import CURVE, FIGURE, PENALTY, PRETRAINED, RISK, SPARSITIES, SPARSITY, STYLE, THEORY_FIGURE

pytestmark = pytest.mark.xdist_group("audit")


def audited(project, *words, **variables):
    command = [sys.executable, "scripts/audit.py", *words]
    return subprocess.run(
        command, cwd=project.folder, env=ENVIRONMENT | variables, capture_output=True, text=True, timeout=300
    )


def test_promise_the_audit_names_what_is_not_as_recorded_and_why(project):
    """In a folder that was moved."""
    whole = audited(project, "--html", "results/audit.html")  # which the next audit passes over
    assert (whole.returncode, whole.stdout.splitlines()[0]) == (0, "All 12 results are OK.")
    for change in (
        m.on(EXACT, m.one_value),
        m.rate(0.03),
        m.append(PENALTY, "\nabs(1)\n"),
        m.append(STYLE, "axes.grid: True\n"),
        m.record(PRETRAINED, lambda record: record["environment"]["versions"].update(tqdm="9.9")),
        m.delete(THEORY_FIGURE[0]),
        m.edit(THEORY_FIGURE[1], lambda record: record["parameters"].update(title="Another")),
        m.append("results/tiny/mine.csv", "1\n"),
    ):
        change(project)
    expected = {
        EXACT: ("ALTERED", "sha256"),
        DESCENT: ("STALE", "configuration: learning_rate 0.02"),
        CURVE: ("STALE", f"code: {PENALTY} changed"),
        PRETRAINED: ("STALE", "software: tqdm 9.9 → "),
        THEORY_FIGURE[0]: ("MISSING", "no file"),
        THEORY_FIGURE[1]: ("ALTERED", "has been edited: it is not what its checksum says"),
        "results/tiny/mine.csv": ("UNRECORDED", "no record, and no job makes it"),
        SPARSITIES[0]: ("STALE", f"input: {EXACT} upstream"),
        **dict.fromkeys(FIGURE, ("STALE", f"input: {STYLE} is not the one it was made of")),
        **dict.fromkeys([SPARSITIES[1], RISK, SPARSITY], ("STALE", f"{DESCENT} upstream")),
    }
    done = audited(project)
    assert (done.returncode, done.stderr) == (1, "")
    found = {path: (verdict, cause) for verdict, path, cause in map(columns, done.stdout.splitlines()[:-2])}
    assert {path: verdict for path, (verdict, _) in found.items()} == {path: one[0] for path, one in expected.items()}
    for path, (_, cause) in expected.items():
        assert cause in found[path][1]


def columns(line):
    return line.split(maxsplit=2)


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


@pytest.mark.extended
def test_exit_codes_and_bad_input(project):
    m.record(CURVE, lambda record: record["environment"]["versions"].update(numpy="1.0"))(project)
    assert audited(project).returncode == 0  # a warning alone
    done = audited(project, "--replay", "-1")
    assert done.returncode == 2
    assert done.stderr.endswith("--replay must be a whole number from 0\n")


@pytest.mark.extended
def test_overlays_are_those_of_the_command_line(project):
    whole = project.config()
    (project.folder / "overlay.yaml").write_text(json.dumps({part: whole[part] for part in ("curves", "figures")}))
    m.configure(m.forget_theory)(project)
    without, with_overlay = audited(project), audited(project, "--configfile", "config/config.yaml", "overlay.yaml")
    assert (without.returncode, with_overlay.returncode) == (1, 0)
    hint = "no job makes it; for the results of an overlay name its files with --configfile"
    assert without.stdout.count(f"configuration: {hint}") == 3
