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


def test_a_declared_version_stands_for_code_and_defaults_until_it_is_another_one(fresh):
    shutil.copytree(TOY, fresh.folder / FOLDER, ignore=shutil.ignore_patterns("__pycache__"))
    finetune = {"protocol": "finetuning", "samples": [2, 4]}
    fresh.configure({"experiments": {"toys": EXPERIMENT | {"finetune": finetune}}})
    kept, pinned = "    KEEPS: ClassVar", '    VERSION: ClassVar = "1"\n    KEEPS: ClassVar'
    fresh.replace(f"{FOLDER}/parameters.py", kept, pinned)
    fresh.replace("scripts/carryover/measures/recorded.py", "@plugins.measure(", '@plugins.measure(version="a", ')
    fresh.make()

    # Today's code with an option more, at its default, and with other names.
    parameters = fresh.folder / FOLDER / "parameters.py"
    parameters.write_text(parameters.read_text() + '    size: PositiveInt = parameter(3, "size")\n')
    fresh.replace(f"{FOLDER}/finetune.py", '"inputs"', '"other inputs"')
    assert fresh.would_run() == {}
    *pinned, summary, _ = fresh.run_python("scripts/audit.py").stdout.splitlines()
    assert summary == "All 5 results are OK."
    assert len(pinned) == 2
    assert all("/finetune/" in line and f"version 1; since then {FOLDER}/finetune.py" in line for line in pinned)

    # Of another length: Python takes a module that was edited within a second for the same one, if its size is.
    fresh.replace(f"{FOLDER}/parameters.py", '"1"', '"two"')
    assert fresh.would_run() == {"finetune": 2, "collect": 1}
    fresh.replace("scripts/carryover/measures/recorded.py", '"a"', '"bcd"')
    assert fresh.would_run() == {"finetune": 2, "collect": 1}
