"""Bad input ends with one clear sentence and exit status 1: no trace, nothing half-written, nothing executed."""

import copy
import os
import shutil

import pytest

from toy.small_project import DESCENT, TINY, Project

pytestmark = pytest.mark.xdist_group("workflow")


@pytest.fixture(scope="module")
def unmade(server, tmp_path_factory):
    """A project of which nothing is made, for configurations that stop before any job."""
    return Project.new(tmp_path_factory.mktemp("unmade") / "project", server)


def refusal(project, *arguments):
    """The one line that is printed beside Snakemake's notes on where its settings come from."""
    done = project.snakemake("--dry-run", *arguments)
    assert done.code == 1
    lines = [line for line in done.text.splitlines() if line and not line.startswith(("Using workflow", "Config file"))]
    assert len(lines) == 1, done.text
    assert lines[0].startswith("carryover: ")
    return lines[0].removeprefix("carryover: ")


def test_promise_bad_input_is_one_sentence_with_the_key_and_what_is_allowed(unmade):
    config = copy.deepcopy(TINY)
    config["experiments"]["tiny"]["finetune"]["sampels"] = 3
    unmade.configure(config)
    assert refusal(unmade).startswith(
        "configuration: experiments.tiny.finetune: unknown key sampels; allowed here: dimension, "
    )
    unmade.configure(TINY)
    (unmade.folder / "over.yaml").write_text("experiments:\n  tiny: {seeds: 3}\n  tiny: {seeds: 4}\n")
    said = "over.yaml: line 2: the key tiny stands twice in a section."
    assert refusal(unmade, "--configfile", "over.yaml") == said
    file = unmade.folder / "scripts/carryover/measures/risk.py"
    text = file.read_text()
    file.write_text(f"def measure(:\n{text}")
    assert refusal(unmade) == "scripts/carryover/measures/risk.py, line 1: invalid syntax."
    file.write_text(text)


def test_a_results_folder_that_cannot_be_written_is_named(unmade):
    unmade.configure(TINY)
    shutil.rmtree(unmade.folder / "results", ignore_errors=True)
    (unmade.folder / "results").write_text("a file")
    assert (
        refusal(unmade) == "cannot write into the results folder results: results is no folder, or belongs to others."
    )


def test_promise_a_damaged_file_is_named(project):
    os.truncate(project.folder / DESCENT, 5000)
    target = DESCENT.replace("finetune/", "measure/sparsity/")
    done = project.snakemake(target)
    assert done.code == 1
    assert "Traceback" not in done.text
    assert f"\nmeasure: {DESCENT} is not netCDF, or truncated or damaged: delete it and run again (" in done.text
    assert not project.litter()
