"""Reruns that are no row of mutation_table.py: new measures, and what is said without Snakemake's metadata."""

import shutil

import pytest

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

RISK = "scripts/carryover/measures/risk.py"


def test_results_without_metadata_are_held_against_their_records(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert "carryover:" not in project.make("--dry-run")
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    project.replace(RISK, "return data[[*names,", "return 1.0 * data[[*names,")
    config["figures"]["tiny_risk"]["data"] = {"risk": "tiny/sparsity"}
    project.configure(config)
    *said, advice = [line for line in project.make("--dry-run").splitlines() if line.startswith("carryover:")]
    differs = "result(s) are not what would be made now:"
    assert sorted(said) == [
        f"carryover: 1 collect {differs} scripts/carryover/measures/risk.py has changed.",
        f"carryover: 1 figure {differs} it is made of results/tiny/sparsity.nc now.",
        f"carryover: 1 finetune {differs} learning_rate 0.02 → 0.03.",
    ]
    assert advice.startswith("carryover: Snakemake has no metadata of them")
