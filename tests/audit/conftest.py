"""The small project, run once; each test audits a copy of the finished folder."""

import shutil

import pytest

from carryover.audit import project as audits
from toy.small_project import Project


class Audited(Project):
    """A finished project in the working folder."""

    def audit(self):
        return audits.audit(audits.configuration([self.folder / "config/config.yaml"]), self.folder)

    def findings(self):
        return self.audit().findings

    def verdicts(self):
        """{path: verdict} of all that is not OK."""
        return {path: found.verdict for path, found in self.findings().items() if found.verdict != "OK"}


@pytest.fixture
def project(finished_project, tmp_path, monkeypatch):
    """A copy of the finished project, which is the working folder: moved, and without Snakemake's metadata."""
    shutil.copytree(finished_project.folder, tmp_path / "moved", ignore=shutil.ignore_patterns(".snakemake"))
    monkeypatch.chdir(tmp_path / "moved")
    return Audited(tmp_path / "moved", None)
