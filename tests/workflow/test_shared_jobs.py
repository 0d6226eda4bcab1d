"""Points of the sweep that share a job, and measures that are taken where shards are collected."""

import runpy
import sys
from pathlib import Path

import pytest
import xarray as xr

from carryover.provenance import job_record, store
from carryover.workflow.sweep import Sweep, Wildcards

ROOT = Path(__file__).resolve().parents[2]
FINETUNE = {
    "samples": [3, 5],
    "main_features": 2,
    "grids": {
        "solved": {"protocol": ["single_task", "finetuning"], "solver": "exact"},
        "trained": {"protocol": "multi_task", "solver": "descent", "samples": 4, "max_steps": 50},
    },
}


def sweep(**experiment):
    spec = {
        "family": "diagonal",
        "seeds": 2,
        "task": {"dimension": 10, "auxiliary_features": 3},
        "pretrain": {"samples": 16},
        "finetune": FINETUNE,
        "measures": {"sparsity": {"largest_k": 2}, "target_alignment": {}},
        **experiment,
    }
    return Sweep({"experiments": {"toy": spec}}, ROOT)


def made(made, folder, monkeypatch):
    """{measure: collected dataset} after every job has run in this process."""
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(
        job_record, "_check_modules", lambda *loaded: None
    )  # this process has loaded more than a job does
    for rule, wildcards, output in made.jobs():
        words = made.flags(rule)(wildcards)
        above = made.inputs(rule)(wildcards)
        if rule == "collect":
            words = [*above, *words]
        elif rule != "pretrain":
            words += [{"finetune": "--pretrained", "measure": "--finetuned"}[rule], *above]
        told = [f"{name}={value}" for name, value in wildcards.items()]
        monkeypatch.setattr(
            sys, "argv", [str(ROOT / f"scripts/{rule}.py"), *words, "--wildcards", *told, "--output", output]
        )
        runpy.run_path(sys.argv[0], run_name="__main__")
    return {name: store.load(f"results/toy/{name}.nc") for name in ("sparsity", "target_alignment")}


def test_points_of_one_solver_share_a_job_unless_they_are_split():
    together, apart = sweep(), sweep(split=["protocol"])
    assert {name: batch.source for name, batch in together.batches("toy", "finetune").items()} == {
        "pretrain_solver~exact_solver~exact": "solver~exact",
        "solver~descent": None,
    }
    assert len(apart.batches("toy", "finetune")) == 3
    flags = together.flags("finetune")(
        Wildcards(experiment="toy", point="pretrain_solver~exact_solver~exact", block="0")
    )
    assert flags.count("--also") == 1


def test_values_do_not_depend_on_what_shares_a_job(tmp_path, monkeypatch):
    together = made(sweep(), tmp_path / "together", monkeypatch)
    apart = made(sweep(split=["protocol", "sparsity"]), tmp_path / "apart", monkeypatch)
    for name, dataset in together.items():
        order = [c for c in dataset.coords if dataset[c].dims == ("run",)]
        first, second = (one.drop_attrs(deep=False).sortby(order) for one in (dataset, apart[name]))
        xr.testing.assert_identical(first, second)
    # an alignment is one of networks that started from a pretrained one, sparsity one of all
    assert set(together["target_alignment"]["protocol"].values) == {"finetuning"}
    assert set(together["sparsity"]["protocol"].values) == {"single_task", "multi_task", "finetuning"}
    shard = tmp_path / "together/results/toy/finetune/pretrain_solver~exact_solver~exact/0.nc"
    assert [set(part["protocol"].values) for part in store.load_all(shard)] == [{"finetuning"}, {"single_task"}]
    with pytest.raises(store.DataError, match="holds 2 datasets"):
        store.load(shard)
