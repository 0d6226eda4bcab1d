"""The versions in a record are those of the packages that a job imports, and its commit that of the code."""

import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest

from carryover.provenance import code_digest, environment


def test_versions_are_those_that_importlib_names():
    found = environment.environment(imported={"numpy", "PIL", "xarray", "none_of_that_name"})["versions"]
    assert found == {name: version(name) for name in ("numpy", "pillow", "xarray")}


def test_what_a_program_imports_from_elsewhere(tmp_path):
    (tmp_path / "mine.py").write_text("import json\nimport numpy as np\nimport other\n")
    (tmp_path / "other.py").write_text("def f():\n    from scipy import linalg\n")
    assert code_digest.closure(tmp_path, "mine")[1] == {"numpy", "scipy"}


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_state(tmp_path, monkeypatch):
    here = tmp_path
    monkeypatch.chdir(here)
    Path("in.nc").touch()

    def git(*arguments):
        name = ["-c", "user.name=a", "-c", "user.email=b", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *name, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    assert environment.git_state(here / "nothing") is None
    git("init")
    git("add", "in.nc")
    assert environment.git_state(here) is None
    git("commit", "-m", "x")
    Path("untracked").write_text("x")
    Path("site-packages").mkdir()
    assert environment.git_state(here) == {"commit": git("rev-parse", "HEAD"), "dirty": False}
    assert environment.git_state(here / "site-packages") is None  # installed, whatever repository is around
    os.utime("in.nc", (1, 1))
    assert environment.git_state(here)["dirty"] is False
    Path("in.nc").write_text("x")
    assert environment.git_state(here)["dirty"] is True
    monkeypatch.setenv("PATH", str(here))
    assert environment.git_state(here) is None
