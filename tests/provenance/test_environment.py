"""The commit in a record is that of the code, marked where files have changes that were not committed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from carryover.provenance import environment


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
    Path("in.nc").write_text("x")
    assert environment.git_state(here)["dirty"] is True
