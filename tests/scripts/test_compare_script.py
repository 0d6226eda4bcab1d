"""A comparison by hand, in process: a dataset with its record, which figures and claims take."""

import numpy as np

import check_claims
import compare
from carryover.provenance import job_record, store
from toy.atlas_runs import runs


def test_a_map_is_a_dataset_with_a_record_and_claims_are_made_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = runs()
    for variable in data.variables.values():
        variable.attrs = {"long_name": "some words", "units": "1"}
    store.save(data, "risk.nc")
    words = ["atlas", "--roles", "risk", "--data", "risk.nc", "--family", "Toy", "--parameters", "10"]
    told = ["--theory", "ratio", "--ratio", "penalty", "--wildcards", "comparison=toy"]
    compare.main([*words, *told, "--output", "map.nc"])
    made, record = store.load("map.nc"), job_record.read("map.nc.json")
    assert (record["rule"], record["wildcards"]) == ("compare", {"comparison": "toy"})
    assert set(record["inputs"]) == {"risk.nc"}
    assert "carryover/claims/comparisons/atlas.py" in record["code"]["files"]
    assert made.sizes == {"pair": 54}
    assert np.isfinite(made["gain"]).all()
    check_claims.main(["atlas", "--roles", "toy", "--data", "map.nc", "--output", "atlas.nc"])
    found = store.load("atlas.nc")
    assert found["claim"].values.tolist() == [
        f"toy_{name}" for name in ("side", "precision", "recall", "constant", "similarity", "r_squared", "slope")
    ]
    assert found["verdict"].values.tolist()[:4] == ["holds", "holds", "holds", "undecided"]
