"""A comparison by hand, in process: a dataset with its record, which figures and claims take, and a user's mistakes."""

import numpy as np
import pytest

import check_claims
import compare
from carryover.errors import UserError
from carryover.provenance import job_record, store
from toy.atlas_runs import runs

WORDS = ["atlas", "--roles", "risk", "--data", "risk.nc", "--family", "Toy", "--parameters", "10"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with made-up runs, which is the working folder."""
    data = runs()
    for variable in data.variables.values():
        variable.attrs = {"long_name": "some words", "units": "1"}
    store.save(data, tmp_path / "risk.nc")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_map_is_a_dataset_with_a_record_and_claims_are_made_of_it(folder):
    told = ["--theory", "ratio", "--ratio", "penalty", "--wildcards", "comparison=toy"]
    compare.main([*WORDS, *told, "--output", "map.nc"])
    made, record = store.load("map.nc"), job_record.read("map.nc.json")
    assert (record["rule"], record["wildcards"]) == ("compare", {"comparison": "toy"})
    assert set(record["inputs"]) == {"risk.nc"}
    assert "carryover/claims/comparisons/atlas.py" in record["code"]["files"]
    assert made.sizes == {"pair": 54}
    assert np.isfinite(made["gain"]).all()
    check_claims.main(["atlas", "--roles", "toy", "--data", "map.nc", "--output", "atlas.nc"])
    found = store.load("atlas.nc")
    assert found["claim"].values.tolist() == ["toy_side", "toy_rarer"]
    assert found["verdict"].values.tolist() == ["undecided"] * 2  # six cells and three are few


def test_what_the_data_lack_is_named_with_the_file(folder):
    with pytest.raises(
        UserError,
        match=r"^claims\.comparisons\.atlas\.atlas does not find what it needs in the data of risk.nc: .*bound",
    ):
        compare.main([*WORDS, "--theory", "ratio", "--ratio", "bound", "--output", "map.nc"])
    assert not (folder / "map.nc").exists()
