"""A small project, run once to its figures; each test works on a copy of the finished folder."""

import subprocess
import sys
from pathlib import Path

import pytest

from toy.small_project import ENVIRONMENT, Project


@pytest.fixture(scope="session")
def server():
    """Snakemake, imported once: see snakemake_server.py."""
    command = [sys.executable, str(Path(__file__).with_name("snakemake_server.py"))]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    with subprocess.Popen(command, env=ENVIRONMENT, **pipes) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="session")
def finished(finished_project, server):
    """The small project after one whole run. Never change it: take a `project`."""
    return Project(finished_project.folder, server)


@pytest.fixture
def project(finished, tmp_path):
    return finished.copy(tmp_path / "moved")


@pytest.fixture
def fresh(server, tmp_path):
    """The project before anything is made."""
    return Project.new(tmp_path / "fresh", server)
