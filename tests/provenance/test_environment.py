"""The versions in a record are those of the packages that a process has loaded, and its commit that of the code."""

import os
import shutil
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
import xarray  # noqa: F401  one that is loaded

from carryover.provenance import environment


def test_versions_are_those_that_importlib_names():
    loaded = environment.loaded_versions()
    assert loaded == {name: version(name) for name in loaded}
    assert {"numpy", "pytest", "xarray"} <= loaded.keys()


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
