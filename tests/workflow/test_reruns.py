"""Reruns are exactly right: each promise of the README, by what a dry run announces."""

import os
import random
import shutil

import pytest
from small_project import EXACT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]

RISK = "scripts/carryover/measures/risk.py"
NEW_MEASURE = '''"""The largest coefficient."""

from dataclasses import dataclass

from carryover.parameters import parameter


@dataclass(frozen=True, kw_only=True)
class Parameters:
    power: float = parameter(1.0, "power of the coefficients", above=0)


def measure(data, p):
    largest = (abs(data["coefficients"].isel(output=0, drop=True)) ** p.power).max("input")
    return largest.assign_attrs(long_name="largest coefficient", units="1").to_dataset(name="largest")
'''


def test_a_moved_folder_reruns_nothing(project):
    assert project.would_run() == {}


def test_touched_files_rerun_nothing(project):
    files = [f for f in project.folder.rglob("*") if f.is_file() and ".snakemake" not in f.parts]
    random.Random(0).shuffle(files)
    for second, file in enumerate(files):
        os.utime(file, (2e9 + second, 2e9 + second))
    assert project.would_run() == {}


def test_a_clone_with_results_and_metadata_reruns_nothing(finished, tmp_path):
    clone = finished.copy(tmp_path / "clone", copy_function=shutil.copyfile)  # every file gets a new time
    assert clone.would_run() == {}


def test_comments_docstrings_and_layout_rerun_nothing(project):
    for file in (RISK, "scripts/finetune.py", "scripts/carryover/tasks/sparse.py"):
        path = project.folder / file
        path.write_text("# A comment.\n\n\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n# The end.\n")
    assert project.would_run() == {}


def test_a_changed_measure_reruns_itself_and_its_figure_and_no_training(project):
    project.replace(RISK, "return data[[*names,", "return 1.0 * data[[*names,")
    assert project.would_run() == {"measure": 2, "collect": 1, "figure": 1}


def test_a_changed_solver_reruns_what_it_solves(project):
    project.replace("scripts/carryover/training/descent.py", "_INSPECT = 50", "_INSPECT = 49")
    assert project.would_run() == {"finetune": 1, "measure": 2, "collect": 2, "figure": 1}


def test_a_changed_plot_redraws_its_figure(project):
    path = project.folder / "scripts/carryover/plotting/relu_penalty.py"
    path.write_text(path.read_text() + "\nNEW = 1\n")
    assert project.would_run() == {"figure": 1}


def test_a_changed_style_redraws_every_figure(project):
    project.replace("config/figures.mplstyle", "font.size: 9", "font.size: 10")
    assert project.would_run() == {"figure": 2}


def test_an_option_of_a_figure_redraws_it_and_its_caption_does_not(project):
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = "Other words."
    project.configure(config)
    assert project.would_run() == {}
    config["figures"]["tiny_risk"]["options"]["title"] = "Another title"
    project.configure(config)
    assert project.would_run() == {"figure": 1}


def test_a_changed_parameter_reruns_what_reads_it(project):
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    project.configure(config)
    assert project.would_run() == {"finetune": 1, "measure": 2, "collect": 2, "figure": 1}


def test_pretraining_reruns_what_starts_from_it_and_nothing_trained_from_scratch(project):
    config = project.config()
    config["experiments"]["tiny"]["pretrain"]["samples"] = 20
    project.configure(config)
    assert project.would_run() == {"pretrain": 1, "finetune": 1, "measure": 2, "collect": 2, "figure": 1}


def test_two_parameters_that_swap_values_rerun(project):
    config = project.config()
    grid = config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]
    grid["learning_rate"], grid["initial_scale"] = grid["initial_scale"], grid["learning_rate"]
    project.configure(config)
    assert project.would_run() == {"finetune": 1, "measure": 2, "collect": 2, "figure": 1}


def test_keys_in_another_order_and_defaults_written_out_rerun_nothing(project):
    config = project.config()
    config["experiments"]["tiny"] = dict(reversed(config["experiments"]["tiny"].items()))
    finetune = config["experiments"]["tiny"]["finetune"]
    finetune["grids"]["solved"] = dict(reversed(finetune["grids"]["solved"].items()))
    config["experiments"]["tiny"]["resources"] = {"mem_mb": 2000, "runtime": 120}
    project.configure(config)
    assert project.would_run() == {}


def test_more_seeds_only_add(project):
    config = project.config()
    config["experiments"]["tiny"]["seeds"] = 3  # a second block, with one seed in it
    project.configure(config)
    assert project.would_run() == {"pretrain": 1, "finetune": 2, "measure": 4, "collect": 2, "figure": 1}


def test_a_theory_curve_reruns_without_any_training(project):
    config = project.config()
    config["curves"]["relu_penalty"]["points"] = 12
    project.configure(config)
    assert project.would_run() == {"curve": 1, "figure": 1}


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


@pytest.mark.parametrize(
    ("file", "jobs"),
    [
        ("figures/tiny_risk.svg", {"figure": 1}),
        ("tiny/risk.nc.json", {"collect": 1, "figure": 1}),
    ],
)
def test_a_deleted_figure_or_record_is_made_again(project, file, jobs):
    (project.folder / "results" / file).unlink()
    assert project.would_run() == jobs


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
        f"carryover: 1 figure {differs} data results/tiny/risk.nc, now results/tiny/sparsity.nc.",
        f"carryover: 1 finetune {differs} learning_rate 0.02, now 0.03.",
        f"carryover: 2 measure {differs} scripts/carryover/measures/risk.py has changed.",
    ]
    assert advice.startswith("carryover: Snakemake has no metadata of them")
