"""A copy of the finished project for each test."""

import shutil

import pytest


@pytest.fixture
def project(finished_project, tmp_path, monkeypatch):
    """A copy of the finished project, which is the working folder: moved, and without Snakemake's metadata."""
    project = finished_project.copy(tmp_path / "moved", ignore=shutil.ignore_patterns(".snakemake"))
    monkeypatch.chdir(project.folder)
    return project
