"""What Snakemake would run again after each change of the table, exactly, by what a dry run announces."""

import os

import pytest
from mutation_rows import PRETRAINED
from mutation_table import TABLE
from mutations import replacement

from toy.small_project import EXACT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_after_a_change_alone(row, project, monkeypatch):
    monkeypatch.chdir(project.folder)
    row.change(project)
    if row.refused:
        done = project.snakemake("--dry-run")
        assert (done.code, done.text.count(f"carryover: {row.refused}\n")) == (1, 1)
    else:
        assert project.would_run() == row.reruns


def test_a_job_fails_that_has_an_input_replaced_meanwhile_and_says_which(project, finished):
    kept, other = (finished.folder / PRETRAINED).read_bytes(), replacement(project, PRETRAINED)
    for path in (project.folder / EXACT, project.folder / f"{EXACT}.json"):
        path.unlink()
    project.start(EXACT)
    project.at_work(EXACT)
    os.replace(other, project.folder / PRETRAINED)
    done = project.end()
    assert done.code == 1
    assert f"{PRETRAINED} changed while finetune ran: run it again" in done.text
    assert not (project.folder / EXACT).exists()
    (project.folder / PRETRAINED).write_bytes(kept)
    project.make(EXACT)
    assert project.results() == finished.results()
