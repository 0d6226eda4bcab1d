"""Ctrl-C, or SIGTERM, ends a program at once: no trace, nothing half-written, and the exit code that shells know."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LONG = ["--experiment", "toy", "--seeds", "0", "--dimension", "12", "--auxiliary-features", "3", "--main-features", "2",
        "--protocol", "single_task", "--solver", "descent", "--learning-rate", "1e-9"]  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.extended)])
def test_a_job_takes_its_half_written_files_away(tmp_path, number):
    command = [sys.executable, SCRIPTS / "finetune.py", "diagonal", *LONG, "--output", "x.nc"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as job:
        deadline = time.monotonic() + 60
        while not list(tmp_path.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        job.send_signal(number)
        said = job.communicate(timeout=60)[1]
    assert job.returncode == 128 + number
    assert len(said.splitlines()) <= 1, said  # how far it had come
    assert not list(tmp_path.iterdir())
