"""A copy of the finished project for each test, with Snakemake's metadata; or the project before any run."""

import pytest

from toy.small_project import Project


@pytest.fixture
def project(finished_project, tmp_path):
    return finished_project.copy(tmp_path / "moved")


@pytest.fixture
def fresh(server, tmp_path):
    return Project.new(tmp_path / "fresh", server)
