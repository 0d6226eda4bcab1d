"""Reruns that are no row of mutation_table.py: new measures, and what is said without Snakemake's metadata."""

import shutil

import pytest

from toy.small_project import EXACT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]

RISK = "scripts/carryover/measures/risk.py"
NEW_MEASURE = '''"""The largest coefficient."""

from dataclasses import dataclass

from carryover.config.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    power: float = parameter(1.0, "power of the coefficients", above=0)


def measure(data, p):
    largest = (abs(data["coefficients"].isel(output=0, drop=True)) ** p.power).max("input")
    return largest.assign_attrs(long_name="largest coefficient", units="1").to_dataset(name="largest")
'''


def test_another_measure_or_measure_parameter_trains_nothing(project):
    config = project.config()
    config["experiments"]["tiny"]["measures"] |= {"norms": {}, "sparsity": {"largest_k": 3}}
    project.configure(config)
    assert project.would_run() == {"measure": 4, "collect": 2}


def test_a_new_measure_is_one_file_and_one_entry(project):
    rules = {file: file.read_bytes() for file in project.folder.rglob("*.smk")}
    (project.folder / "scripts/carryover/measures/largest.py").write_text(NEW_MEASURE)
    done = project.run_python("scripts/schema.py")
    assert done.returncode == 0, done.stderr
    config = project.config()
    config["experiments"]["tiny"]["measures"]["largest"] = {"power": 2.0}
    project.configure(config)
    assert project.would_run() == {"measure": 2, "collect": 1}
    project.make(EXACT.replace("finetune/", "measure/largest/"))
    assert rules == {file: file.read_bytes() for file in project.folder.rglob("*.smk")}


def test_metadata_is_found_under_the_longest_of_names(project):
    config = project.config()
    config["pathvars"] = {"results": "results/" + "long" * 60}
    project.configure(config)
    curve = f"{config['pathvars']['results']}/theory/relu_penalty.nc"
    project.make(curve)
    config["curves"]["relu_penalty"]["points"] = 12
    project.configure(config)
    assert "carryover:" not in project.make("--dry-run", curve)
    assert project.would_run(curve) == {"curve": 1}


def test_results_without_metadata_are_held_against_their_records(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert "carryover:" not in project.make("--dry-run")
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    project.replace(RISK, "return data[[*names,", "return 1.0 * data[[*names,")
    config["figures"]["tiny_risk"]["data"] = {"risk": "tiny/sparsity"}
    project.configure(config)
    *said, advice = [line for line in project.make("--dry-run").splitlines() if line.startswith("carryover:")]
    differs = "result(s) differ from what would be made now:"
    assert sorted(said) == [
        f"carryover: 1 collect {differs} scripts/carryover/measures/risk.py has changed.",
        f"carryover: 1 figure {differs} data results/tiny/risk.nc, now results/tiny/sparsity.nc.",
        f"carryover: 1 finetune {differs} learning_rate 0.02, now 0.03.",
    ]
    assert advice.startswith("carryover: Snakemake has no metadata of them")
