"""The plan of the workflow's small project: from records as jobs write them, from made-up ones, from bad ones."""

import re

import pytest
import yaml

import plan
from carryover.workflow.plan import table
from toy.small_project import TINY


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(TINY))
    return tmp_path / "results"


def planned(capsys, *more):
    plan.main(["--configfile", "config.yaml", *more])
    return capsys.readouterr().out


def row(text, *names):
    """The cells of one row by the names of the columns."""
    line = next(line for line in text.splitlines() if re.split(r"  +", line)[: len(names)] == list(names))
    return dict(zip(table.HEADER[1 if len(names) == 1 else 2 :], re.split(r"  +", line)[len(names) :], strict=False))


def test_every_job_of_the_configuration_is_counted_once(results, capsys):
    text = planned(capsys)
    assert "Nothing was measured yet" in text
    found = row(text, "all", "all")
    # 1 pretrained; 2 finetuned, both measured once; 2 collected; 1 curve; 2 figures.
    assert (found["jobs"], found["not known"], found["2 cores"]) == ("10", "10", "not measured")
