"""What an audit cannot read, or what lies among results and is none, is said; it neither hangs nor ends in a trace."""

import os
from pathlib import Path

import pytest

from carryover.provenance import store
from workflow.mutation_table import FIGURE, RISK

pytestmark = pytest.mark.xdist_group("audit")
PIPE = "cannot be read: it is no regular file"


def pipe(path):
    Path(path).unlink(missing_ok=True)
    os.mkfifo(path)


def test_pipes_among_results(project):
    pipe("results/stray.nc")
    pipe("results/stray.json")
    pipe(RISK)
    found = project.findings()
    for path in ("results/stray.nc", "results/stray.json", RISK):
        assert (found[path].verdict, found[path].cause) == ("UNREADABLE", PIPE)
    assert {found[path].verdict for path in FIGURE} == {"DOWNSTREAM-OF"}
    with pytest.raises(store.DataError, match=f"{RISK} {PIPE}"):
        store.load(RISK)


STRAY = {"lists": "[" * 100_000, "mappings": '{"a":' * 100_000, "a zero": "\0", "nothing": ""}


@pytest.mark.parametrize("text", STRAY.values(), ids=STRAY)
def test_stray_json_is_a_file_like_any_other(text, project):
    Path("results/stray.json").write_text(text)
    assert project.verdicts() == {"results/stray.json": "UNRECORDED"}
