"""`carryover check` refuses what a job would refuse, before there is one."""

from pathlib import Path

import pytest

from carryover.commands import check
from carryover.errors import UserError

ROOT = Path(__file__).resolve().parents[2]


def test_parameters_that_contradict_each_other_are_named(tmp_path, monkeypatch):
    wrong = "linear_depth: {finetune: {grids: {wrong: {protocol: linear_transfer, solver: balanced}}}}"
    (tmp_path / "mine.yaml").write_text(f"experiments: {{{wrong}}}\n")
    monkeypatch.chdir(ROOT)
    said = r"experiments\.linear_depth\.finetune\.grids\.wrong: linear_transfer has no solver balanced: choose "
    with pytest.raises(UserError, match=said):
        check.main(["config/config.yaml", f"{tmp_path}/mine.yaml"])


def test_the_configuration_of_the_project_has_nothing_wrong(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    check.main(["config/config.yaml"])
    assert capsys.readouterr().out.endswith("; nothing wrong\n")
