"""A full disk is one sentence that names the file, whichever library writes it; what stood there stays, alone."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
import xarray as xr
from rocrate.rocrate import ROCrate
from torch import nn

from carryover.crate.writing import write_zip
from carryover.diagnosis.factors.journal import Journal, Point
from carryover.diagnosis.recording import record
from carryover.errors import UserError
from carryover.provenance import job_record, store, writing
from carryover.training.saved_states import SavedStates

SCRIPTS = Path(store.__file__).parents[2]
NOISE = np.random.default_rng(0).normal(size=(3, 3000))
FILES = [__file__, store.__file__, job_record.__file__]
DATA = xr.Dataset({"w": (("run", "unit"), NOISE, {"long_name": "made for a test", "units": "1"})})


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


def drawn(path):
    figure, axes = plt.subplots()
    axes.plot(NOISE[0])
    try:
        with writing.atomic(path) as unfinished:
            figure.savefig(unfinished)
    finally:
        plt.close(figure)  # which holds the file that Matplotlib's PDF leaves open


def zipped(path):
    with writing.atomic(path) as unfinished:
        write_zip(ROCrate(), SimpleNamespace(files={Path(f).name: (f, store.sha256(f)) for f in FILES}), unfinished)


def recorded(path):
    net = nn.Sequential(nn.Linear(4, 700))
    with record(net, ["0"], path) as see:
        see(torch.randn(40, 4))


def journal(path):
    kept = Journal(path, "a search")
    for seed in range(2000):
        kept.add(Point(0.5, seed), 0.1)
    kept.close()


def folder(path):
    with writing.new_folder(path) as unfinished:
        for number in range(10):
            shutil.copyfile(__file__, unfinished / str(number))


WRITERS = {
    "x.nc": lambda path: store.save(DATA, path),
    "recording.nc": recorded,
    "x.json": text,
    "x.png": drawn,
    "x.svg": drawn,
    "x.pdf": drawn,
    "x.zip": zipped,
    "state.pt": lambda path: SavedStates(path.parent).save(0, {"w": torch.tensor(NOISE)}),
    "x.jsonl": journal,
    "crate": folder,
}


@pytest.mark.filterwarnings("ignore:.*FileIO:pytest.PytestUnraisableExceptionWarning")  # Matplotlib's PDF left open
@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
def test_it_is_said_at_any_size_of_the_disk(disk, name, write):
    full = 0
    for kilobytes in (4, 8, 12, 16, 24, 40, 56, 72, 400):
        path = disk(kilobytes) / name
        said = None
        try:
            write(path)
        except UserError as error:
            said = str(error)
        gc.collect()  # as files are left open
        if said:
            full += 1
            path = next(path.parent.iterdir()) / "current.pt" if name == "state.pt" else path  # of one request
            assert said == f"cannot write {path}: No space left on device"
            left = [file.name for file in path.parent.iterdir()]
            assert left == ["x.jsonl"] * (name == "x.jsonl")  # which goes on
    assert 2 <= full <= 8


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


def test_another_error_is_not_taken_for_it(tmp_path):
    with pytest.raises(RuntimeError, match="of its own"), writing.atomic(tmp_path / "x"):
        raise RuntimeError("of its own")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_what_a_program_prints_may_not_fit_either():
    program = "from carryover.workflow import command_line; command_line.run(lambda argv: print('long' * 9999))"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program],
            stdout=full, stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (1, "-c: cannot write what it prints: No space left on device.\n")
