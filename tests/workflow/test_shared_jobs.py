"""Values do not depend on which points and measures share a job."""

import pytest
import xarray as xr

from carryover.provenance import store
from toy.small_project import Project

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

SPEC = {
    "family": "diagonal",
    "seeds": 2,
    "task": {"dimension": 10, "auxiliary_features": 3},
    "pretrain": {"samples": 16},
    "finetune": {
        "samples": [3, 5],
        "main_features": 2,
        "grids": {
            "solved": {"protocol": ["single_task", "finetuning"], "solver": "exact"},
            "trained": {"protocol": "multi_task", "solver": "descent", "samples": 4, "max_steps": 50},
        },
    },
    "measures": {"sparsity": {"largest_k": 2}, "target_alignment": {}},
}


def collected(folder, server, **split):
    """{measure: collected dataset} of a run of the workflow, its runs in one order."""
    project = Project.new(folder, server, {"experiments": {"toy": SPEC | split}})
    project.make()
    found = {name: store.load(folder / f"results/toy/{name}.nc") for name in SPEC["measures"]}
    return {
        name: data.drop_attrs(deep=False).sortby([c for c in data.coords if data[c].dims == ("run",)])
        for name, data in found.items()
    }


def test_values_do_not_depend_on_what_shares_a_job(server, tmp_path):
    together = collected(tmp_path / "together", server)
    apart = collected(tmp_path / "apart", server, split=["protocol", "sparsity"])
    for name, data in together.items():
        xr.testing.assert_identical(data, apart[name])
    # an alignment is one of networks that started from a pretrained one, sparsity one of all
    assert set(together["target_alignment"]["protocol"].values) == {"finetuning"}
    assert set(together["sparsity"]["protocol"].values) == {"single_task", "multi_task", "finetuning"}
