"""The workflow's promises, each as a user meets it: exact reruns, failed reruns, kills, records."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from carryover.provenance import job_record, store
from toy.small_project import DESCENT, ENVIRONMENT, EXACT, HOSTILE
from workflow import mutations as m

pytestmark = pytest.mark.xdist_group("workflow")

RISK, FIGURE = "results/tiny/risk.nc", "results/figures/tiny_risk.png"


def test_promise_only_what_depends_on_a_change_runs_again(project):
    """The folder has been moved; then each change is made on top of those before."""
    config = project.config()
    for harmless in (m.touch, m.new_words, m.configure(m.ask_for_the_same)):
        harmless(project)
    assert project.would_run() == {}
    project.configure(config | {"experiments": {"tiny": config["experiments"]["tiny"] | {"seeds": 4}}})
    more = project.would_run()
    assert (more["pretrain"], more["finetune"]) == (1, 2)  # a block of new seeds; the old one stays
    project.configure(config)
    m.replace(m.MEASURE, "return data[[*names,", "return 1.0 * data[[*names,")(project)
    assert project.would_run() == {"collect": 1, "figure": 1}  # a changed measure trains nothing
    m.rate(0.03)(project)
    assert project.would_run() == m.DESCENT_AGAIN


def test_promise_a_failed_rerun_is_tried_again(project, finished_project):
    m.rate(1.0e6)(project)
    done = project.snakemake(RISK)
    assert done.code == 1
    assert "gradient descent with learning rate 1e+06 diverged" in done.text
    assert (project.folder / RISK).exists()
    for target in ([], [FIGURE]):
        assert project.would_run(*target)["finetune"] == 1
    m.rate(0.02)(project)  # as it was
    project.make(RISK)
    assert project.results() == finished_project.results()
    assert project.would_run() == {}


def make(project, *targets):
    """The Makefile's own commands, in the environment that the tests run in."""
    command = ["make", "--no-print-directory", "--old-file", ".venv/.ready", *targets]
    return subprocess.run(command, cwd=project.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def test_promise_a_killed_run_ends_with_the_same_bytes(project, finished_project):
    """A job is killed, then Snakemake itself; elsewhere, and on another number of cores."""
    for path in (EXACT, DESCENT, RISK):
        m.delete(path, f"{path}.json")(project)
    project.start(EXACT, cores=1)
    os.kill(project.at_work(EXACT), signal.SIGKILL)
    done = project.end()
    assert done.code == 1
    assert "Traceback" not in done.text
    assert not (project.folder / EXACT).exists()

    group = project.start(DESCENT, cores=1)
    job = project.at_work(DESCENT)
    os.killpg(group, signal.SIGKILL)
    with suppress(ProcessLookupError):
        for _ in range(100):  # until the system has done away with it: its temporary is swept once it is dead
            os.kill(job, signal.SIGKILL)
            time.sleep(0.1)
    assert project.end().code == -signal.SIGKILL
    (project.folder / DESCENT).write_bytes(b"half")  # the worst that any program could have left

    (project.folder / ".venv").symlink_to(sys.prefix)
    refused = make(project)
    assert refused.returncode == 2
    assert "carryover: .snakemake/locks is held by another run, or by one that was killed; " in refused.stdout
    assert "clear it with: make unlock" in refused.stdout
    assert make(project, "unlock").returncode == 0

    project.make(RISK, cores=1)
    assert project.results() == finished_project.results()
    assert not project.litter()
    assert project.would_run() == {}


def test_promise_every_result_has_a_record_that_says_how_it_was_made(finished_project):
    made = finished_project.results()
    assert len(made) == 12
    for path in made:
        record = job_record.read(finished_project.folder / f"{path}.json")
        assert record["outputs"][path]["sha256"] == store.sha256(finished_project.folder / path)
        for name, facts in record["inputs"].items():
            assert facts["sha256"] == store.sha256(finished_project.folder / name)
        assert {"rule", "parameters", "seeds", "request", "git"} <= record.keys()
        assert record["code"]["digest"]
        assert {"python", "versions", "cpu", "device", "threads"} <= record["environment"].keys()
        assert record["volatile"]["duration"] > 0
    trained = job_record.read(finished_project.folder / f"{DESCENT}.json")
    assert (trained["rule"], trained["seeds"], trained["parameters"]["learning_rate"]) == ("finetune", [0, 1], 0.02)


def test_promise_a_hostile_title_is_a_title(finished_project):
    record = job_record.read(finished_project.folder / "results/figures/relu_penalty.pdf.json")
    assert record["parameters"]["title"] == HOSTILE
    assert not list(finished_project.folder.rglob("PWNED"))
