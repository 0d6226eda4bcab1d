"""What each change of the table alone does to the audit's verdicts and to what Snakemake would run again, exactly."""

from dataclasses import dataclass, field

import pytest

from toy.small_project import EXACT
from workflow import mutations as m

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


@dataclass
class Row:
    """A change, with what follows from it alone.

    `verdicts`: {verdict: results} of all that is not OK in an audit; UPSTREAM: STALE for what is upstream alone.
    `says`: words of the cause of each of the others, by verdict where they differ.
    `reruns`: {rule: number of jobs} of Snakemake's dry run.
    """

    name: str
    change: object
    verdicts: dict = field(default_factory=dict)
    reruns: dict = field(default_factory=dict)
    says: str | dict = ""


TABLE = [
    Row("a clone, with results and Snakemake's metadata copied", m.clone),
    Row("a clone, with results but no metadata copied, their times kept", m.without_metadata),
    Row("a module that a module imports",
        m.replace("scripts/carryover/training/diagonal.py", "_INSPECT = 50", "_INSPECT = 49"),
        {"STALE": m.TRAINED, "UPSTREAM": m.AFTER_TRAINING}, m.BLOCK_AGAIN,
        "scripts/carryover/training/diagonal.py changed"),
    Row("the command of a rule", m.replace(m.RULE, "{params.flags:q}", "{params.flags:q} --points 12"),
        {}, {"curve": 1, "figure": 1}),
    Row("one seed more, in a block of its own", m.put("experiments", "tiny", "seeds", value=3),
        {"MISSING": m.NEW_BLOCK, "STALE": [m.RISK, m.SPARSITY], "UPSTREAM": m.FIGURE}, m.BLOCK_AGAIN,
        {"MISSING": "no file", "STALE": "configuration: it is made of results/tiny/"}),
    Row("an edited result with a record that fits", m.forge(EXACT),
        {"STALE": [m.SPARSITIES[0], m.RISK], "UPSTREAM": [m.SPARSITY, *m.FIGURE]}, {},
        f"{EXACT} is not the one it was made of"),
    Row("two results that swap places, with their records", m.swap(*m.SPARSITIES),
        {"ALTERED": m.SPARSITIES, "UPSTREAM": [m.SPARSITY]}, {"collect": 1}, "is the record of"),
    Row("results copied without their records", m.delete("results/**/*.json"),
        {"UNRECORDED": m.ALL}, {"collect": 2, "curve": 1, "figure": 2}, "no record"),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_after_a_change_alone(row, project, monkeypatch):
    monkeypatch.chdir(project.folder)
    row.change(project)
    assert project.would_run() == row.reruns
    findings = project.audit().findings
    expected = {path: verdict for verdict, paths in row.verdicts.items() for path in paths}
    verdicts = {path: one.verdict if "upstream" not in one.cause else "UPSTREAM" for path, one in findings.items()}
    assert {path: verdict for path, verdict in verdicts.items() if verdict != "OK"} == expected
    assert findings.keys() == {*m.ALL, *expected}
    for path, verdict in expected.items():
        if verdict != "UPSTREAM":
            assert (row.says if isinstance(row.says, str) else row.says[verdict]) in findings[path].cause
