"""A training that is killed at random moments, and started again each time, ends with the same bytes."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ENVIRONMENT = {**os.environ, "CARRYOVER_SAVE_EVERY": "0", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


def start(stage, output, *flags):
    known = ["--experiment", "toy", "--seeds", "0", "--width", "2", "--tasks", "1", "--device", "cpu"]
    command = [sys.executable, SCRIPTS / f"{stage}.py", "convnet", *known, *flags, "--output", output]
    return subprocess.Popen(list(map(str, command)), env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)


def killed_until_done(stage, output, *flags, rng):
    """Kill at random moments after a state was saved, until a start gets to the end; how often."""
    states, kills = Path(f"{output}.saved"), 0
    while True:
        process = start(stage, output, *flags)
        began = {file: file.stat().st_mtime_ns for file in states.glob("*.pt")}
        while process.poll() is None and {f: f.stat().st_mtime_ns for f in states.glob("*.pt") if f.exists()} == began:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.4))
        if process.poll() is None and kills < 2:
            process.kill()
            kills += 1
            process.communicate()
            assert not output.exists()
        else:
            _, said = process.communicate()
            assert process.returncode == 0, said
            return kills


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_killed_at_random_moments_it_ends_with_the_same_bytes(stage, tmp_path):
    flags = ["--max-epochs", "12"] if stage == "pretrain" else [
        "--protocol", "single_task", "--samples", "40", "60", "--max-epochs", "20", "--tolerance", "0", "--batch-size",
        "16", "--together", "1", "--keep-weights", "True",
    ]  # fmt: skip
    whole, broken = tmp_path / "whole.nc", tmp_path / "broken.nc"
    process = start(stage, whole, *flags)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert killed_until_done(stage, broken, *flags, rng=random.Random(0)) >= 2
    assert broken.read_bytes() == whole.read_bytes()
    assert not Path(f"{broken}.saved").exists()
