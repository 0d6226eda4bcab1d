"""Bad input ends with one clear sentence and exit status 1: no trace, nothing half-written, nothing executed."""

import copy
import os
import shutil

import pytest

from toy.small_project import DESCENT, TINY

pytestmark = pytest.mark.xdist_group("workflow")


def refusal(project, *arguments):
    """The one line that is printed beside Snakemake's notes on where its settings come from."""
    done = project.snakemake("--dry-run", *arguments)
    assert done.code == 1
    lines = [line for line in done.text.splitlines() if line and not line.startswith(("Using workflow", "Config file"))]
    assert len(lines) == 1, done.text
    assert lines[0].startswith("carryover: ")
    return lines[0].removeprefix("carryover: ")


def test_promise_bad_input_is_one_sentence_with_the_key_and_what_is_allowed(fresh):
    config = copy.deepcopy(TINY)
    config["experiments"]["tiny"]["finetune"]["sampels"] = 3
    fresh.configure(config)
    assert refusal(fresh).startswith(
        "configuration: experiments.tiny.finetune: unknown key sampels; allowed here: dimension, "
    )
    fresh.configure({**TINY, "experiments": {**TINY["experiments"], "tniy": {"seeds": 3}}})
    assert refusal(fresh).endswith("experiments.tniy.family: Field required; experiments of a similar name: tiny.")
    config = copy.deepcopy(TINY)
    config["experiments"]["tiny"]["split"] = ["stages"]
    fresh.configure(config)
    assert refusal(fresh).startswith("configuration: experiments.tiny.split")
    fresh.configure({"pathvars": {"results": 3}})
    assert refusal(fresh) == "configuration: pathvars.results: Input should be a valid string, not 3."
    fresh.configure(TINY)
    (fresh.folder / "over.yaml").write_text("experiments:\n  tiny: {seeds: 3}\n  tiny: {seeds: 4}\n")
    said = "over.yaml cannot be read: the key tiny stands twice in a section in line 2, column 3."
    assert refusal(fresh, "--configfile", "over.yaml") == said
    file = fresh.folder / "scripts/carryover/measures/recorded.py"
    text = file.read_text()
    file.write_text(f"def measure(:\n{text}")
    assert refusal(fresh) == "scripts/carryover/measures/recorded.py, line 1: invalid syntax."
    file.write_text(text)
    shutil.rmtree(fresh.folder / "results", ignore_errors=True)
    (fresh.folder / "results").write_text("a file")
    said = "cannot write into the results folder results: results is no folder."
    assert refusal(fresh) == said


def test_promise_a_damaged_file_is_named(project):
    os.truncate(project.folder / DESCENT, 5000)
    target = DESCENT.replace("finetune/", "measure/sparsity/")
    done = project.snakemake(target)
    assert done.code == 1
    assert "Traceback" not in done.text
    assert f"\nmeasure: {DESCENT} is not netCDF, or truncated or damaged: delete it and run again (" in done.text
    assert not project.litter()
