"""Kill anything at any time and run again: the result is the same as if nothing had happened."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from toy.small_project import DESCENT, ENVIRONMENT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]


def without(project, output):
    for path in (project.folder / output, project.folder / f"{output}.json"):
        path.unlink()


def make(project, *targets):
    """The Makefile's own commands, in the environment that the tests run in."""
    command = ["make", "--no-print-directory", "--old-file", ".venv/.ready", *targets]
    return subprocess.run(command, cwd=project.folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=120)


def test_a_killed_job_leaves_nothing_and_runs_again(project, finished):
    without(project, DESCENT)
    project.start(DESCENT)
    os.kill(project.at_work(DESCENT), signal.SIGKILL)
    done = project.end()
    assert done.code == 1
    assert "Traceback" not in done.text
    assert not (project.folder / DESCENT).exists()
    project.make(DESCENT)
    assert project.results() == finished.results()
    assert not project.litter()
    assert project.would_run() == {}


def test_after_snakemake_is_killed_make_names_the_lock_and_results_are_the_same(project, finished):
    without(project, DESCENT)
    group = project.start(DESCENT)
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
    said = refused.stdout.splitlines()
    assert said[0].startswith("carryover: .snakemake/locks is held by another run, or by one that was killed; ")
    assert said[0].endswith("clear it with: make unlock")
    unlocked = make(project, "unlock")
    assert unlocked.returncode == 0, unlocked.stderr

    project.make(DESCENT)
    assert project.results() == finished.results()
    assert not project.litter()
    assert project.would_run() == {}


def test_results_are_the_same_bytes_elsewhere_and_on_another_number_of_cores(fresh, finished):
    something = ("results/figures/tiny_risk.png", "results/tiny/sparsity.nc", "results/theory/relu_penalty.nc")
    fresh.make(*something, cores=1)  # of every rule
    made, known = fresh.results(), finished.results()
    assert len(made) == 1 + 2 + 2 + 2 + 1 + 3  # pretrain, finetune, measure, collect, curve, figure
    assert [path for path in made if made[path] != known[path]] == []
