"""What a record adds to a job of two small inputs and one output, against the 50 ms that it may add."""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import xarray as xr

from carryover.provenance import job_record, store

LIMIT, TIMES = 50, 20  # ms; jobs
MODULES = ["finetune", "carryover.families.diagonal.finetune", "carryover.families.diagonal.exact"]


def job(inputs, output):
    return job_record.Job(rule="finetune", inputs=inputs, outputs=[output], modules=MODULES)


def added(dataset, inputs, output):
    """Milliseconds of a job that does nothing but write its result, less those of writing it."""
    start = time.perf_counter()
    with job(inputs, output) as running:
        writing = time.perf_counter()
        store.write(dataset, running.path(output))
        written = time.perf_counter()
    return 1e3 * (time.perf_counter() - written + writing - start)


def measure(smallest=False):
    times = 2 if smallest else TIMES
    labels = {"long_name": "made for a benchmark", "units": "1"}
    dataset = xr.Dataset({"weight": (("run", "input"), np.ones((4, 100)), labels)})
    with tempfile.TemporaryDirectory() as folder:
        inputs = [Path(folder, f"{number}.nc") for number in range(2)]
        for path in inputs:
            added(dataset, [], path)
        taken = [added(dataset, inputs, Path(folder, f"output{number}.nc")) for number in range(times)]
    median = statistics.median(taken)
    detail = f"median of {times} jobs: {median:.0f} ms, {LIMIT} ms allowed"
    yield {"name": "record of a job", "ratio": LIMIT / median, "at_least": 1, "detail": detail}
