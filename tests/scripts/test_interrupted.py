"""Ctrl-C, or SIGTERM, ends a program at once: no trace, nothing half-written, and the exit code that shells know."""

import os
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


@pytest.mark.parametrize("name", ["finetune", "audit"])
def test_a_script_that_still_loads_what_it_needs_shows_no_trace_either(name, tmp_path):
    """Whatever it loads first, beyond the standard library and `command_line`, is interrupted."""
    program = f"""
import runpy, sys
sys.path.insert(0, {str(SCRIPTS)!r})
class Interrupted:
    def find_spec(self, name, path, target=None):
        ours = sys.modules.get("carryover.workflow.command_line")
        if name.partition(".")[0] in ("numpy", "xarray", "matplotlib", "pandas", "tabulate", "torch") or (
            name.startswith("carryover.") and hasattr(ours, "run")
        ):
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_path({str(SCRIPTS / f"{name}.py")!r}, run_name="__main__")
"""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode in (-signal.SIGINT, 128 + signal.SIGINT)
    assert done.stderr == ""
