"""A crate of a thousand jobs against half a minute, with records that are made up after those of a small run."""

import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import crate
from carryover.provenance import store

BYTES, SECONDS = 100_000, 30
HERE = Path(__file__).resolve().parents[1]


def make_up(small_run, jobs):
    """So many finetuned shards of one pretrained network, with twenty parameters each, some of their own."""
    like = json.loads(Path(f"{small_run.SHARD}.json").read_text())
    for number in range(jobs):
        path = Path(f"results/toy/finetune/made_up~{number}/0.nc")
        path.parent.mkdir(parents=True)
        path.write_bytes(os.urandom(BYTES))
        facts = {"sha256": store.sha256(path), "bytes": BYTES, "content": store.sha256(path)}
        own = {f"parameter_{i}": i if i < 15 else number * i for i in range(20)}
        record = {**like, "outputs": {path.as_posix(): facts}, "parameters": own, "seeds": [number]}
        Path(f"{path}.json").write_text(json.dumps(record, indent=1, sort_keys=True))


def measure(smallest=False):
    """One row for a folder and one for a ZIP file: the seconds allowed over those that an export took."""
    sys.path.insert(0, str(HERE / "toy"))
    small_run = importlib.import_module("small_run")
    before, jobs = Path.cwd(), 10 if smallest else 1000
    with tempfile.TemporaryDirectory() as folder:
        small_run.start(Path(folder) / "project")
        os.chdir(Path(folder) / "project")
        try:
            small_run.run()
            make_up(small_run, jobs)
            for output in ("crate", "results/crate.zip"):
                began = time.perf_counter()
                crate.main(["results", "--output", output])
                taken = time.perf_counter() - began
                detail = f"{jobs} jobs of {BYTES} bytes: {taken:.1f} s, {SECONDS} s allowed"
                yield {"name": output, "ratio": SECONDS / taken, "at_least": 1, "detail": detail}
        finally:
            os.chdir(before)
