"""A job fails where it has loaded what its record would not name."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.provenance import code_digest, job_record

SCRIPTS = job_record.SCRIPTS


def run(code, path=SCRIPTS):
    environment = {**os.environ, "PYTHONPATH": str(path)}
    return subprocess.run([sys.executable, *code], capture_output=True, text=True, env=environment)


STEP = """
import importlib, sys
from carryover.workflow import command_line
from carryover.provenance import job_record
def main(argv):
    with job_record.Job(rule="step", outputs=["o.txt"], modules=["step", *argv[1:]]) as job:
        for name in argv[0].split(","):
            importlib.import_module(name)
        job.path("o.txt").write_text("x")
command_line.run(main)
"""


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """A project of one script, which loads the module that is named first and says that it uses the others."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scripts/carryover").mkdir(parents=True)
    for name in code_digest.closure_files(
        SCRIPTS, "carryover.provenance.job_record", "carryover.workflow.command_line"
    ):
        (tmp_path / "scripts" / name).parent.mkdir(exist_ok=True)
        shutil.copy(SCRIPTS / name, tmp_path / "scripts" / name)
    Path("scripts/carryover/hidden.py").write_text("")
    Path("scripts/step.py").write_text(STEP)
    return tmp_path / "scripts"


def test_a_module_that_the_closure_cannot_see_fails_the_job(scripts):
    hidden = "carryover.hidden"
    assert "step loaded carryover/hidden.py, which no import statement names" in run(["scripts/step.py", hidden]).stderr
    assert not Path("o.txt").exists()
    assert run(["scripts/step.py", hidden, hidden]).returncode == 0
    assert job_record.read("o.txt.json")["command"] == ["scripts/step.py", hidden, hidden]
