"""Bad input ends with one clear sentence and exit status 1: no trace, nothing half-written, nothing executed."""

import copy
import os
import shutil

import pytest

from carryover.errors import UserError
from carryover.workflow import startup
from toy.small_project import DESCENT, ROOT, TINY, Project

pytestmark = pytest.mark.xdist_group("workflow")


@pytest.fixture(scope="module")
def unmade(server, tmp_path_factory):
    """A project of which nothing is made, for configurations that stop before any job."""
    return Project.new(tmp_path_factory.mktemp("unmade") / "project", server)


def changed(*path, value):
    """The small configuration with one value set, or taken out where it is None."""
    config = copy.deepcopy(TINY)
    *sections, key = path
    node = config
    for section in sections:
        node = node.setdefault(section, {})
    if value is None:
        del node[key]
    else:
        node[key] = value
    return config


FINETUNE = ("experiments", "tiny", "finetune")
REFUSED = {
    "two grids that ask for one job": (
        (*FINETUNE, "grids", "again", {"protocol": "single_task", "solver": "descent"}),
        "experiments.tiny.finetune: two grids ask for protocol~single_task_solver~descent; ",
    ),
    "nothing to start from": (
        ("experiments", "tiny", "pretrain", None),
        "experiments.tiny.finetune.grids.solved with protocol finetuning, solver exact starts from pretraining: add ",
    ),
    "a figure of data that nobody makes": (
        ("figures", "tiny_risk", "data", {"risk": "tiny/norms"}),
        "figures.tiny_risk.data: results/tiny/norms.nc is neither a file nor made here; known are tiny/risk, ",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_configuration_is_refused_before_any_job(change, sentence):
    *path, value = change
    with pytest.raises(UserError) as refused:
        startup.valid_sweep(changed(*path, value=value), ROOT).check()
    assert str(refused.value).startswith(sentence.removesuffix("."))


def refusal(project, *arguments):
    """The one line that is printed beside Snakemake's notes on where its settings come from."""
    done = project.snakemake("--dry-run", *arguments)
    assert done.code == 1
    lines = [line for line in done.text.splitlines() if line and not line.startswith(("Using workflow", "Config file"))]
    assert len(lines) == 1, done.text
    assert lines[0].startswith("carryover: ")
    return lines[0].removeprefix("carryover: ")


def test_promise_bad_input_is_one_sentence_with_the_key_and_what_is_allowed(unmade):
    unmade.configure(changed(*FINETUNE, "sampels", value=3))
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
