"""A training that is killed at random moments, and started again each time, ends with the same bytes.

Each start is a process of its own, forked from one that has loaded PyTorch: that takes longer than the training.
"""

import json
import multiprocessing
import os
import random
import runpy
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended


SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
ENVIRONMENT = {"CARRYOVER_SAVE_EVERY": "0", "OMP_NUM_THREADS": "1"}
LONGEST = 0.1  # seconds until a process is killed; it takes some more for its training


@pytest.fixture(scope="module")
def start():
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(["netCDF4", "scipy.stats", "torch", "xarray"])  # of the project's own modules none

    def start(stage, output, *flags):
        known = ["--experiment", "toy", "--seeds", "0", "--width", "2", "--tasks", "1", "--device", "cpu"]
        words = [SCRIPTS / f"{stage}.py", "convnet", *known, *flags, "--output", output]
        process = forks.Process(target=run, args=(list(map(str, words)), f"{output}.said"))
        process.start()
        return process

    return start


def run(words, said):
    """What `python SCRIPT …` does, with what it says in a file."""
    os.environ.update(ENVIRONMENT)
    os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.argv, sys.path[0] = words, str(SCRIPTS)
    del sys.modules[__name__]  # a job may have loaded nothing that its record does not name
    runpy.run_path(words[0], run_name="__main__")


def killed_until_done(start, stage, output, *flags, rng):
    """Kill at random moments after a state was saved, until a start gets to the end; how often."""
    states, kills = Path(f"{output}.saved"), 0
    while True:
        process = start(stage, output, *flags)
        began = states.stat().st_mtime_ns if states.exists() else 0
        while process.is_alive() and (not states.exists() or states.stat().st_mtime_ns == began):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, LONGEST))
        if process.is_alive() and kills < 2:
            process.kill()
            kills += 1
            process.join()
            assert not output.exists()
        else:
            process.join()
            assert process.exitcode == 0, Path(f"{output}.said").read_text()
            return kills


@pytest.mark.parametrize("stage", ["pretrain", "finetune"])
def test_killed_at_random_moments_it_ends_with_the_same_bytes(stage, start, tmp_path):
    flags = ["--max-epochs", "6"] if stage == "pretrain" else [
        "--protocol", "single_task", "--samples", "40", "60", "--max-epochs", "10", "--tolerance", "0", "--batch-size",
        "16", "--together", "1", "--keep-weights", "True",
    ]  # fmt: skip
    whole, broken = tmp_path / "whole.nc", tmp_path / "broken.nc"
    process = start(stage, whole, *flags)
    process.join()
    assert process.exitcode == 0, Path(f"{whole}.said").read_text()
    kills = killed_until_done(start, stage, broken, *flags, rng=random.Random(0))
    assert kills >= 2
    assert broken.read_bytes() == whole.read_bytes()
    resumed = [json.loads(Path(f"{made}.json").read_text())["volatile"].get("resumed") for made in (whole, broken)]
    assert resumed[0] is None
    assert resumed[1]["starts"] == kills
    assert resumed[1]["seconds"] > 0
    assert not Path(f"{broken}.saved").exists()
