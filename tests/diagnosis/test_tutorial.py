"""The tutorial runs as it stands, alike whatever the number of threads, and prints what its page says of it."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


TUTORIAL = ROOT / "docs/tutorial/tutorial.py"


def run(*words, threads="1"):
    """What Python prints, and the seconds of processor time that it takes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts"), "OMP_NUM_THREADS": threads}
    command = [sys.executable, *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_the_tutorial(tmp_path):
    printed, seconds = run(TUTORIAL, tmp_path / "one")
    assert {path.name for path in (tmp_path / "one").iterdir()} >= {"factor.png", "before.nc", "after_1.nc"}
    said = printed.splitlines()
    page = (ROOT / "docs/tutorial/README.md").read_text()
    assert said[0].split(" gains ")[0] in page  # training differs in its last digits between processors
    assert any(line.startswith("layer1 ") and " unchanged " in line for line in said)
    assert seconds < 100


def test_its_numbers_are_the_same_with_more_threads(tmp_path):
    """It sets threads itself. Its first part pretrains a network, of whose weights all that is printed follows."""
    text, until = TUTORIAL.read_text(), "\nchoice = choose_factor("
    assert text.count(until) == 1
    part = tmp_path / "part.py"
    part.write_text(
        text.partition(until)[0] + "\nprint(sum(w.double().sum() for w in start.state_dict().values()).item())\n"
    )
    printed = [run(part, tmp_path, threads=threads)[0] for threads in ("1", "4")]
    assert float(printed[0]) != 0
    assert printed[0] == printed[1]
