"""Every benchmark of `make bench` and `make bench-gpu` runs at its smallest size."""

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
NAMES = {folder: sorted(file.stem for file in (TESTS / folder).glob("[!_]*.py")) for folder in ("bench", "bench_gpu")}
NAMES["bench"].remove("run")


@pytest.mark.extended
@pytest.mark.parametrize(("folder", "name"), [(folder, name) for folder in NAMES for name in NAMES[folder]])
def test_a_benchmark_measures_a_ratio_in_every_row(folder, name):
    device = ["--device", "cpu"] if folder == "bench_gpu" else []
    command = [sys.executable, TESTS / "bench/run.py", "--smallest", *device, name]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ratios = [float(ratio) for ratio in re.findall(r": (\S+) \(at least ", done.stdout)]
    assert ratios
    assert all(math.isfinite(ratio) and ratio > 0 for ratio in ratios), done.stdout
