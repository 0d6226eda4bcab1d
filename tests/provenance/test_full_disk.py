"""A full disk is one sentence that names the file, whichever library writes it; what stood there stays, alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from carryover.diagnosis.factors.journal import Journal, Point
from carryover.provenance import job_record, store, writing

SCRIPTS = Path(store.__file__).parents[2]


@pytest.fixture
def disk(tmp_path):
    """A function of kilobytes that gives a folder on a disk of that size."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mounted(kilobytes):
        if os.path.ismount(folder):
            subprocess.run(["umount", "--lazy", folder], check=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        return folder

    yield mounted
    if os.path.ismount(folder):
        subprocess.run(["umount", "--lazy", folder], check=True)


def text(path):
    with writing.atomic(path) as unfinished:
        unfinished.write_text("long" * 20_000)


def journal(path):
    kept = Journal(path, "a search")
    for seed in range(2000):
        kept.add(Point(0.5, seed), 0.1)
    kept.close()


def folder(path):
    with writing.new_folder(path) as unfinished:
        for number in range(10):
            shutil.copyfile(__file__, unfinished / str(number))


def test_of_several_outputs_the_one_that_does_not_fit_is_named_and_the_old_ones_stay(disk):
    named = []
    for kilobytes in range(28, 200, 4):
        outputs = [disk(kilobytes) / name for name in "abc"]
        for output in outputs:
            output.write_text("old")
        try:
            with job_record.Job(rule="figure", outputs=outputs, modules=["carryover.errors"], command=["x.py"]) as job:
                for output in outputs:
                    job.path(output).write_bytes(bytes(20_000))
        except writing.NoSpace as error:
            told = str(error).removeprefix(f"cannot write {outputs[0].parent}/")
            named.append(told.removesuffix(": No space left on device"))
            assert sorted(outputs[0].parent.iterdir()) == outputs
            assert {output.read_text() for output in outputs} == {"old"}
        else:
            break
    assert list(dict.fromkeys(named)) == ["a", "b", "c", "a.json", "b.json", "c.json"]
    assert not list(outputs[0].parent.glob(".*"))


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
import numpy as np, xarray as xr
from carryover.provenance import store
store.save(xr.Dataset({"w": ("x", np.random.rand(9000), {"long_name": "w", "units": "1"})}), "x.nc")
"""


def test_so_is_a_file_that_may_be_no_larger(tmp_path):
    environment = os.environ | {"PYTHONPATH": str(SCRIPTS), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stderr.splitlines()[-1].endswith("NoSpace: cannot write x.nc: File too large")
    assert not list(tmp_path.iterdir())
