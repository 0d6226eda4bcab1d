"""Files are whole, the same bytes every time, and damage to them is said in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.provenance import store

SCRIPTS = Path(store.__file__).parents[2]

# A dataset with everything that a stage may write, as source, for other processes make it too.
MAKE = """
import numpy as np, xarray as xr
label = {"long_name": "made for a test", "units": "1"}
rng = np.random.default_rng(0)
dataset = xr.Dataset(
    {
        "w": (("run", "unit"), rng.normal(size=(3, 700)), label),
        "single": (("run", "unit"), rng.normal(size=(3, 700)).astype("f4"), label),
        "flag": ("run", np.array([True, False, True]), label),
        "gap": ("run", np.array([np.nan, -0.0, np.inf]), label),
        "count": ("run", np.array([1, 2, -3]), {**label, "units": "steps"}),
        "time": ("run", np.array([0.5, 1, 2]), {"long_name": "time", "units": "seconds since 2000-01-01"}),
        "scalar": ((), 1.5, label),
        "empty": ("none", np.zeros(0), label),
    },
    {"run": ("run", ["", "béta", "c d"], label), "arm": ("run", ["x", "y", "z"], label), "point": ((), "one", label)},
    {"lr": 0.1, "steps": 7, "rescale": [1.0, 0.1], "names": ["a", "bc"], "note": "text", "nothing": ""},
)
"""


@pytest.fixture
def dataset():
    namespace = {}
    exec(MAKE, namespace)
    return namespace["dataset"]


@pytest.fixture
def saved(dataset, tmp_path):
    path = tmp_path / "0.nc"
    store.save(dataset, path)
    return path


def test_what_goes_in_comes_out(dataset, saved):
    loaded = store.load(saved)
    xr.testing.assert_identical(loaded, dataset)
    assert {n: v.dtype.kind for n, v in loaded.variables.items()} == {
        n: v.dtype.kind for n, v in dataset.variables.items()
    }
    assert loaded["single"].dtype == np.float32
    saved.unlink()  # in memory, and closed
    assert loaded["w"].values.sum() == dataset["w"].values.sum()


def test_same_bytes_in_another_process(saved, tmp_path):
    """With other hashes, another order of variables and attributes, another byte order, and a file's encodings."""
    code = f"""{MAKE}
from carryover.provenance import store
names = list(dataset.data_vars)[::-1]
dataset.attrs = dict(reversed(dataset.attrs.items()))
dataset["w"] = dataset["w"].astype(">f8")
dataset[names].to_netcdf("foreign.nc", encoding={{"w": {{"chunksizes": (1, 10), "zlib": True}}}})
with xr.open_dataset("foreign.nc", decode_times=False) as opened:
    dataset["w"] = opened["w"].load()
store.save(dataset[names], "other.nc")
"""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), "PYTHONHASHSEED": "7"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "other.nc").read_bytes() == saved.read_bytes()


def test_damage_is_caught_or_harmless(saved, tmp_path):
    """Truncated at many lengths, and with a byte flipped at many places."""
    whole, path, before = saved.read_bytes(), tmp_path / "bad.nc", store.load(saved)
    for length in [0, 7, *range(100, len(whole), len(whole) // 10), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(store.DataError, match=r"bad\.nc is not netCDF, or truncated or damaged: delete it and run"):
            store.load(path)
    caught = 0
    for place in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])
        try:
            xr.testing.assert_identical(store.load(path), before)
        except store.DataError:
            caught += 1
    assert caught > 20


def test_a_part_is_that_of_the_whole_and_is_read_alone(saved):
    taken = []

    def select(data):
        taken.append(data)
        return data[["single"]]

    xr.testing.assert_identical(*store.load_all(saved, select), store.load(saved)[["single"]])
    assert not taken[0]["w"].variable._in_memory
    with pytest.raises(KeyError, match="teacher"):
        store.load_all(saved, lambda data: data[["teacher"]])


def test_a_missing_and_a_foreign_file_are_named(tmp_path):
    with pytest.raises(UserError, match=r"^[^\n]*x\.nc is missing: run the step that makes it$"):
        store.load(tmp_path / "x.nc")
    xr.Dataset({"x": 1.0}).to_netcdf(tmp_path / "x.nc")
    with pytest.raises(UserError, match=r"^[^\n]*x\.nc was not written by this version of Carryover: [^\n]*$"):
        store.load(tmp_path / "x.nc")


@pytest.mark.parametrize(("name", "label"), [("w", "units"), ("run", "long_name")])
def test_a_variable_without_a_label_is_refused(dataset, tmp_path, name, label):
    del dataset[name].attrs[label]
    with pytest.raises(ValueError, match=f"{name} must have the text attribute {label}"):
        store.save(dataset, tmp_path / "x.nc")
    assert not list(tmp_path.iterdir())


def test_atomic_keeps_the_suffix_and_removes_what_killed_processes_left(tmp_path):
    others = [tmp_path / ".g.png.tmp1.png", tmp_path / ".f.pdf.tmp1.pdf"]
    for path in [tmp_path / ".f.png.tmp1.png", *others]:
        path.write_text("half")
    with store.atomic(tmp_path / "f.png") as (temporary,):
        temporary.write_text("whole")
        assert temporary.suffix == ".png"
        assert not (tmp_path / "f.png").exists()
    assert (tmp_path / "f.png").read_text() == "whole"
    assert set(tmp_path.iterdir()) == {tmp_path / "f.png", *others}
