"""A real Slurm of one node, and the small project made on it."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from cluster.on_slurm import Clustered

HERE = Path(__file__).parent
LOCK = Path("/run/carryover-slurm.lock")  # one at a time: its ports are fixed


@pytest.fixture(scope="session")
def slurm():
    """Skips where there is no Slurm, or no right to start one."""
    missing = [program for program in ("munged", "slurmctld", "slurmd", "sbatch") if not shutil.which(program)]
    if missing:
        pytest.skip(f"Slurm is not installed here: no {', '.join(missing)}")
    if os.geteuid() != 0:
        pytest.skip("only root can start a Slurm")
    # munge refuses folders that others cannot enter
    with LOCK.open("w") as one_at_a_time, tempfile.TemporaryDirectory(prefix="slurm") as folder:
        fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        started = subprocess.run([HERE / "slurm_up.sh", folder], capture_output=True, text=True, timeout=120)
        try:
            if started.returncode == 2:
                pytest.skip(started.stderr.strip())
            assert started.returncode == 0, started.stderr
            yield
        finally:
            subprocess.run([HERE / "slurm_down.sh", folder], timeout=60, check=False)


@pytest.fixture
def project(slurm, tmp_path):
    """The small project, with nothing made yet."""
    with Clustered(tmp_path / "project") as clustered:
        yield clustered
