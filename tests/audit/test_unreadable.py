"""What an audit cannot read, or what lies among results and is none, is said and ends in no trace."""

from pathlib import Path

import pytest

from workflow.mutation_table import FIGURE, RISK

pytestmark = pytest.mark.xdist_group("audit")


def test_a_folder_in_the_place_of_a_result_and_stray_json(project):
    Path(RISK).unlink()
    Path(RISK).mkdir()
    Path("results/deep.json").write_text("[" * 100_000)
    found = project.findings()
    assert (found[RISK].verdict, found[RISK].cause) == ("ALTERED", f"{RISK} cannot be read: Is a directory")
    assert {found[path].cause for path in FIGURE} == {f"input: {RISK} upstream"}
    assert found["results/deep.json"].verdict == "UNRECORDED"
