"""The commit in a record is that of the code, marked where files have changes that were not committed."""

import shutil
import subprocess

import pytest

from carryover.provenance import environment


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_git_state(tmp_path):
    def git(*arguments):
        name = ["-c", "user.name=a", "-c", "user.email=b", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True, text=True
        ).stdout

    (tmp_path / "site-packages").mkdir()
    (tmp_path / "code").touch()
    assert environment.git_state(tmp_path / "nothing") is None
    git("init")
    git("add", "code")
    git("commit", "-m", "x")
    (tmp_path / "untracked").touch()
    assert environment.git_state(tmp_path) == {"commit": git("rev-parse", "HEAD").strip(), "dirty": False}
    assert environment.git_state(tmp_path / "site-packages") is None  # installed, whatever repository is around
    (tmp_path / "code").write_text("x")
    assert environment.git_state(tmp_path)["dirty"] is True
