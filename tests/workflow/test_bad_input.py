"""Bad input ends with one clear sentence and exit status 1: no trace, nothing half-written, nothing executed."""

import copy
import os
import shutil

import numpy as np
import pytest
import xarray as xr

from carryover.errors import UserError
from carryover.workflow import startup
from toy.small_project import DESCENT, EXACT, ROOT, TINY, Project

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
    "more jobs than can be listed": (
        ("experiments", "tiny", "seeds", 10**8),
        "configuration: 150000000 training jobs are more than 20000: ",
    ),
    "a measure of other families": (
        ("experiments", "tiny", "measures", "clusters", {}),
        "experiments.tiny.measures.clusters is of networks of relu, not of diagonal.",
    ),
    "two grids that ask for one job": (
        (*FINETUNE, "grids", "again", {"protocol": "single_task", "solver": "descent"}),
        "experiments.tiny.finetune: two grids ask for protocol~single_task_solver~descent; ",
    ),
    "a key that nothing reads": (
        (*FINETUNE, "grids", "solved", "learning_rate", 0.1),
        "experiments.tiny.finetune.grids.solved.learning_rate is read only where solver is descent, which no job ",
    ),
    "a results folder that a shell would run": (
        ("pathvars", "results", "x;touch PWNED;"),
        "configuration: pathvars.results: String should match pattern ",
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
    done = unmade.run_python("-m", "snakemake", "--dry-run")
    assert (done.returncode, done.stdout) == (1, "")
    said = "carryover: configuration: experiments.tiny.finetune: unknown key sampels; allowed here: loss, "
    assert f"\n{said}" in done.stderr
    assert "Traceback" not in done.stderr
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


def failure(project, *targets):
    """What is printed by a run that must fail and leave nothing behind."""
    done = project.snakemake("--keep-going", *targets)
    assert done.code == 1
    assert "Traceback" not in done.text
    for target in targets:
        assert not (project.folder / target).exists()
        assert not (project.folder / f"{target}.json").exists()
    assert not project.litter()
    return done.text


def test_an_impossible_job_says_why(project):
    project.configure(changed(*FINETUNE, "main_features", value=12))
    said = "\nfinetune: 12 new features do not fit into the 9 dimensions that the auxiliary task leaves of 12.\n"
    assert said in failure(project, EXACT)


def test_promise_damaged_and_foreign_files_are_named(project):
    os.truncate(project.folder / DESCENT, 5000)
    xr.Dataset({"a": ("x", [1.0, 2.0])}).to_netcdf(project.folder / EXACT, engine="netcdf4")
    said = failure(project, *(path.replace("finetune/", "measure/sparsity/") for path in (DESCENT, EXACT)))
    assert f"\nmeasure: {DESCENT} is not netCDF, or truncated or damaged: delete it and run again (" in said
    assert f"\nmeasure: {EXACT} was not written by Carryover" in said


class Bomb:
    """Unpickling it makes a file."""

    def __reduce__(self):
        return os.mkdir, ("PWNED",)


def test_promise_nothing_is_unpickled(unmade):
    layers = np.array([Bomb()], dtype=object)
    np.savez(unmade.folder / "before.npz", layer=layers)
    words = ["--pretrained", "before.npz", "--finetuned", "before.npz", "--output", "diagnosis"]
    done = unmade.run_python("scripts/carryover", "diagnose", *words)
    assert done.returncode == 1
    assert done.stderr.startswith("carryover: before.npz cannot be read")
    assert "\n" not in done.stderr.rstrip("\n")
    assert not (unmade.folder / "PWNED").exists()
    assert not list((unmade.folder / "diagnosis").glob("*"))
