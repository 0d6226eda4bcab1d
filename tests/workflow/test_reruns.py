"""Reruns are exactly right: each promise of the README, by what a dry run announces."""

import os
import random
import shutil

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]

RISK = "scripts/carryover/measures/risk.py"


def test_a_moved_folder_reruns_nothing(project):
    assert project.would_run() == {}


def test_touched_files_rerun_nothing(project):
    files = [f for f in project.folder.rglob("*") if f.is_file() and ".snakemake" not in f.parts]
    random.Random(0).shuffle(files)
    for second, file in enumerate(files):
        os.utime(file, (2e9 + second, 2e9 + second))
    assert project.would_run() == {}


def test_a_copy_with_results_and_metadata_but_new_times_reruns_nothing(finished, tmp_path):
    clone = finished.copy(tmp_path / "clone", copy_function=shutil.copyfile)
    assert clone.would_run() == {}


def test_comments_docstrings_and_layout_rerun_nothing(project):
    for file in (RISK, "scripts/finetune.py", "scripts/carryover/tasks/sparse.py"):
        path = project.folder / file
        path.write_text("# A comment.\n\n\n" + path.read_text().replace('"""', '"""Reworded. ', 1) + "\n\n# The end.\n")
    assert project.would_run() == {}


def test_a_changed_measure_reruns_itself_and_its_figure_and_no_training(project):
    project.replace(RISK, "** 2", "** 2 * 1.0")
    assert project.would_run() == {"measure": 6, "collect": 1, "figure": 1}


def test_a_changed_solver_reruns_its_own_jobs(project):
    project.replace("scripts/carryover/training/descent.py", "def gradient_descent(", "UNUSED = 1\n\n\ndef gradient_descent(")
    assert project.would_run()["finetune"] == 2  # the descent shards of two blocks


def test_a_changed_plot_redraws_its_figure(project):
    project.replace("scripts/carryover/plotting/relu_penalty.py", "3.3", "3.4")
    assert project.would_run() == {"figure": 1}


def test_a_changed_style_redraws_every_figure(project):
    project.replace("config/figures.mplstyle", "font.size: 9", "font.size: 10")
    assert project.would_run() == {"figure": 2}


def test_a_changed_caption_reruns_nothing(project):
    config = project.config()
    config["figures"]["tiny_risk"]["caption"] = "Other words."
    project.configure(config)
    assert project.would_run() == {}


def test_a_changed_parameter_reruns_what_reads_it(project):
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    project.configure(config)
    assert project.would_run() == {"finetune": 2, "measure": 4, "collect": 2, "figure": 1}


def test_pretraining_reruns_what_starts_from_it_and_not_single_task(project):
    config = project.config()
    config["experiments"]["tiny"]["pretrain"]["samples"] = 20
    project.configure(config)
    assert project.would_run() == {"pretrain": 2, "finetune": 2, "measure": 4, "collect": 2, "figure": 1}


def test_two_parameters_that_swap_values_rerun(project):
    config = project.config()
    grid = config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]
    grid["learning_rate"], grid["initial_scale"] = grid["initial_scale"], grid["learning_rate"]
    project.configure(config)
    assert project.would_run()["finetune"] == 2


def test_more_seeds_fill_and_add_blocks_only(project):
    config = project.config()
    config["experiments"]["tiny"]["seeds"] = 4  # the second block grows from one seed to two
    project.configure(config)
    assert project.would_run()["finetune"] == 3
    config["experiments"]["tiny"]["seeds"] = 3
    project.configure(config)
    assert project.would_run() == {}


def test_a_whole_new_block_retrains_nothing(project):
    config = project.config()
    config["experiments"]["tiny"]["seeds"] = 2
    project.configure(config)
    assert project.would_run() == {"collect": 2, "figure": 1}


def test_another_measure_or_measure_parameter_trains_nothing(project):
    config = project.config()
    config["experiments"]["tiny"]["measures"] |= {"norms": {}, "sparsity": {"largest_k": 3}}
    project.configure(config)
    assert project.would_run() == {"measure": 12, "collect": 2}


def test_a_deleted_record_is_made_again_with_its_result(project):
    (project.folder / "results/tiny/risk.nc.json").unlink()
    assert project.would_run() == {"collect": 1, "figure": 1}


def test_results_without_metadata_are_held_against_their_records(project):
    shutil.rmtree(project.folder / ".snakemake")
    assert "differ" not in project.snakemake("--dry-run").text
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = 0.03
    project.configure(config)
    said = project.snakemake("--dry-run").text
    assert "learning_rate 0.02, now 0.03" in said
    assert "finetune" in said
