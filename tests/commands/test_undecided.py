"""`carryover undecided` lists the claims that are open, with what would decide them and what that costs."""

import re
import shutil
from pathlib import Path

import pytest

from carryover.commands import undecided
from carryover.errors import UserError
from toy import small_results


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_results.run()


def test_open_claims_stand_with_what_they_need_and_its_cost(results, capsys):
    undecided.main([])
    *rows, empty, said = capsys.readouterr().out.splitlines()
    assert (len(rows), empty) == (3, "")
    assert re.fullmatch(r"norms/claim_0 +more seeds +3 +\d+ +at most \d.*", rows[-1])
    assert said.startswith(
        "Of 4 claims, 1 fail, 1 are undecided at this scale, 2 hold. These would decide: more seeds (1)."
    )
    assert " More seeds would decide 1 claim in at most " in said


def test_results_that_were_moved_say_the_same_and_lost_records_are_said(results, capsys):
    undecided.main([])
    before = capsys.readouterr().out
    shutil.move("results", "elsewhere")
    undecided.main(["elsewhere"])
    assert capsys.readouterr().out == before
    Path("elsewhere/toy/norms.nc.json").unlink()
    undecided.main(["elsewhere"])
    assert "cost not known" in capsys.readouterr().out
    Path("elsewhere/claims.nc.json").unlink()
    with pytest.raises(UserError, match=r"claims\.nc\.json is missing"):
        undecided.main(["elsewhere"])
