"""A rerun that failed is tried again by every later run, whatever that asks for, until it succeeds."""

import os
import signal

import pytest

from toy.small_project import DESCENT, EXACT

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]

RISK, FIGURE = "results/tiny/risk.nc", "results/figures/tiny_risk.png"


def rate(project, value):
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"]["learning_rate"] = value
    project.configure(config)


def fails(project, *arguments, saying):
    done = project.snakemake(*arguments)
    assert done.code == 1
    assert saying in done.text
    assert "Nothing to be done" not in done.text


def test_a_rerun_that_was_killed_is_tried_again(project):
    rate(project, 0.021)
    project.start()
    os.kill(project.at_work(DESCENT), signal.SIGKILL)
    assert project.end().code == 1
    again = {"finetune": 1, "measure": 1, "collect": 2, "figure": 1}
    assert project.would_run() == again
    assert project.would_run(FIGURE) == {"finetune": 1, "collect": 1, "figure": 1}
    project.make()
    assert project.would_run() == {}


def test_a_rerun_whose_code_raises_is_tried_again(project, finished):
    """The code stands two stages above what is asked for."""
    file = project.folder / "scripts/carryover/families/diagonal/pretrain.py"
    text = file.read_text()
    head, found, rest = text.partition("\ndef problems(")
    assert found, f"{file} no longer has problems: mend this test"
    signature, end, body = rest.partition(":\n")
    file.write_text(f"{head}{found}{signature}{end}    raise RuntimeError('not today')\n{body}")
    for _ in range(3):
        fails(project, "results/tiny/sparsity.nc", saying="not today")
    assert (project.folder / EXACT).exists()
    file.write_text(text)
    project.make()
    made = project.results()
    assert made == {path: data for path, data in finished.results().items() if path in made}
    assert {RISK, FIGURE} <= made.keys()
