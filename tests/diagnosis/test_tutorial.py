"""The tutorial runs as it stands, alike whatever the number of threads, and prints what its page says of it."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


def run(folder, threads):
    """What the tutorial prints, and the seconds of processor time that it takes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "OMP_NUM_THREADS": threads}
    command = [sys.executable, ROOT / "docs/tutorial/tutorial.py", folder]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_tutorial(tmp_path):
    printed, seconds = run(tmp_path / "one", "1")
    assert {path.name for path in (tmp_path / "one").iterdir()} >= {"factor.png", "before.nc", "after_1.nc"}
    said = printed.splitlines()
    page = (ROOT / "docs/tutorial/README.md").read_text()
    assert said[0].split(" gains ")[0] in page  # training differs in its last digits between processors
    assert any(line.startswith("layer1 ") and " unchanged " in line for line in said)
    assert seconds < 100
    again, seconds = run(tmp_path / "other", "4")  # the tutorial sets threads itself
    assert again == printed
    assert seconds < 100
