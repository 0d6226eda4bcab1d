"""What each change of the table alone does to the audit's verdicts and to what Snakemake would run again, exactly."""

import pytest

from workflow.mutation_table import ALL, TABLE

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_after_a_change_alone(row, project, monkeypatch):
    monkeypatch.chdir(project.folder)
    row.change(project)
    assert project.would_run() == row.reruns
    findings = project.audit().findings
    expected = {path: verdict for verdict, paths in row.verdicts.items() for path in paths}
    verdicts = {path: one.verdict if "upstream" not in one.cause else "UPSTREAM" for path, one in findings.items()}
    assert {path: verdict for path, verdict in verdicts.items() if verdict != "OK"} == expected
    assert findings.keys() == {*ALL, *expected}
    for path, verdict in expected.items():
        if verdict != "UPSTREAM":
            assert (row.says if isinstance(row.says, str) else row.says[verdict]) in findings[path].cause
