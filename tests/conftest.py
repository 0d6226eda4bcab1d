"""Libraries compute in one thread, as the workflow's jobs do, unless a run of the tests asks for another number.

Temporary folders are in memory where there is room: many small files cost a tenth there of what they cost on disk.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# As on a user's machine; else every process compiles what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

MEMORY, ROOM = "/dev/shm", 4 * 2**30
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)

settings.register_profile("tests", derandomize=True, deadline=None)  # the same cases everywhere, on a busy machine too
settings.load_profile("tests")


@pytest.fixture(scope="session")
def server():
    """Snakemake, imported once: see toy/snakemake_server.py."""
    from toy.small_project import ENVIRONMENT

    command = [sys.executable, str(Path(__file__).with_name("toy") / "snakemake_server.py")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen(command, env=ENVIRONMENT, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory, server):
    """The small project after one whole run of Snakemake in a process of its own. Never change it: take a copy.

    Made once for all processes of a run of the tests.
    """
    from toy.small_project import Project

    everyones = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        everyones = everyones.parent
    project, done = everyones / "made", everyones / "made.done"
    with (everyones / "made.lock").open("w") as one_at_a_time:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        if not done.exists():
            Project.made(project)
            done.touch()
    return Project(project, server)


@pytest.fixture
def project(finished_project, tmp_path, monkeypatch):
    """A copy of it, which is the working folder: moved, and without Snakemake's metadata."""
    project = finished_project.copy(tmp_path / "moved", ignore=shutil.ignore_patterns(".snakemake"))
    monkeypatch.chdir(project.folder)
    return project
