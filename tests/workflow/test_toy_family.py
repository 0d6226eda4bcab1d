"""A new family is one folder: with that and its experiment in the configuration, the workflow runs it."""

import shutil

import pytest

from carryover.provenance import job_record, store
from toy.small_project import ROOT

pytestmark = pytest.mark.extended

TOY = ROOT / "tests/toy/families/toy"
FOLDER = "scripts/carryover/families/toy"
EXPERIMENT = {
    "family": "toy",
    "seeds": 3,
    "block": 2,
    "task": {"dimension": 5},
    "pretrain": {"samples": 30},
    "finetune": {"protocol": ["finetuning", "single_task"], "solver": ["exact", "descent"], "samples": [2, 4]},
    "measures": {"risk": {}},
}


def files(project):
    skipped = ("__pycache__", ".snakemake", "results")
    found = (path for path in project.folder.rglob("*") if path.is_file() and not set(skipped) & set(path.parts))
    return {path.relative_to(project.folder).as_posix(): path.read_bytes() for path in found}


def test_a_family_in_a_folder_runs_from_pretraining_to_collected_measures(fresh):
    fresh.configure({"experiments": {"toys": EXPERIMENT}})
    before = files(fresh)
    shutil.copytree(TOY, fresh.folder / FOLDER, ignore=shutil.ignore_patterns("__pycache__"))
    fresh.make()
    changed = {name for name, content in files(fresh).items() if before.get(name) != content}
    assert all(name.startswith(f"{FOLDER}/") for name in changed)

    risk = store.load(fresh.folder / "results/toys/risk.nc")
    assert risk.sizes["run"] == 2 * 2 * 3 * 2  # protocols, solvers, seeds, samples
    finetuned = risk["protocol"].values == "finetuning"
    assert risk["risk_final"].values[finetuned].mean() < risk["risk_final"].values[~finetuned].mean()
    assert risk["angle"].attrs == {"long_name": "angle between the tasks", "units": "rad"}
    shard = "results/toys/finetune/pretrain_solver~exact_solver~exact/0.nc"
    code = job_record.read(fresh.folder / f"{shard}.json")["code"]["files"]
    assert {f"carryover/families/toy/{name}.py" for name in ("pretrain", "finetune", "solvers")} <= set(code)

    assert fresh.would_run() == {}
    fresh.replace(f"{FOLDER}/finetune.py", '"inputs"', '"other inputs"')
    assert fresh.would_run() == {"finetune": 4, "collect": 1}  # and no pretraining
