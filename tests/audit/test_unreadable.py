"""What an audit cannot read, or what lies among results and is none, is said; it neither hangs nor ends in a trace."""

import os
from pathlib import Path

import pytest

from workflow.mutation_table import FIGURE, RISK

pytestmark = pytest.mark.xdist_group("audit")


def test_pipes_and_stray_json_among_results(project):
    for path in ("results/stray.nc", "results/stray.json", RISK):
        Path(path).unlink(missing_ok=True)
        os.mkfifo(path)
    Path("results/deep.json").write_text("[" * 100_000)
    found = project.findings()
    for path in ("results/stray.nc", "results/stray.json", RISK):
        assert (found[path].verdict, found[path].cause) == ("ALTERED", f"{path} cannot be read: it is no regular file")
    assert {found[path].cause for path in FIGURE} == {f"input: {RISK} upstream"}
    assert found["results/deep.json"].verdict == "UNRECORDED"
