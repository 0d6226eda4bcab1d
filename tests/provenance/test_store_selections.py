"""Parts of a dataset, taken before values are read; whose mistake it is when that fails."""

import numpy as np
import pytest
import xarray as xr

from carryover.provenance import store


@pytest.fixture
def file(tmp_path):
    labels = {"long_name": "a number", "units": "1"}
    data = xr.Dataset({name: ("run", np.arange(3.0), labels) for name in ("risk", "weights")})
    store.save(data, tmp_path / "x.nc")
    return tmp_path / "x.nc"


def test_a_part_is_that_of_the_whole(file):
    part = store.load(file, lambda data: data[["risk"]])
    xr.testing.assert_identical(part, store.load(file)[["risk"]])


def test_only_the_part_is_read(file, monkeypatch):
    taken = []

    def select(data):
        taken.append(data)
        return data[["risk"]]

    store.load(file, select)
    assert not taken[0]["weights"].variable._in_memory


def test_what_a_file_lacks_is_named(file):
    with pytest.raises(store.DataError, match=r"x\.nc does not have what is to be taken of it: .*teacher"):
        store.load(file, lambda data: data[["teacher"]])
