"""What each change alone does to the verdicts on every artefact of a finished project, exactly: no alarm elsewhere."""

import sys
from pathlib import Path

import pytest

from carryover.audit import verdicts
from carryover.errors import UserError, sentence
from carryover.provenance import job_record
from carryover.workflow import startup
from toy.small_project import EXACT
from workflow import file_changes, mutation_page
from workflow import mutations as m
from workflow.mutation_rows import AFTER_EXACT, ALL, FIGURE, PRETRAINED, SPARSITIES, SPARSITY
from workflow.mutation_table import TABLE

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_after_a_change_alone(row, project, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(project.folder / "site-packages"), *sys.path])
    row.change(project)
    if row.refused:
        with pytest.raises(UserError) as refusal:
            project.audit()
        assert sentence(refusal.value) == row.refused
        return
    findings = project.findings()
    expected = {path: verdict for verdict, paths in row.verdicts.items() for path in paths}
    assert {path: found.verdict for path, found in findings.items() if found.verdict != "OK"} == expected
    assert findings.keys() == {*ALL, *expected}
    for path, verdict in expected.items():
        if verdict != "DOWNSTREAM-OF":
            assert (row.says if isinstance(row.says, str) else row.says[verdict]) in findings[path].cause
    assert expected or any(row.says in text for found in findings.values() for text in (found.cause, *found.remarks))


EDITS = {
    "git": lambda record: record.update(git={"commit": "0" * 40, "dirty": False}),
    "volatile": lambda record: record["volatile"].update(host="elsewhere"),
    "processor": lambda record: record["environment"].update(cpu={}),
    "modules": lambda record: record["code"]["modules"].append("carryover.provenance.store"),
    "bytes": lambda record: record["outputs"][EXACT].update(bytes=1),
    "an added key": lambda record: record.update(new=1),
}


def test_an_edit_of_any_part_of_a_record_is_seen(project):
    kept = Path(f"{EXACT}.json").read_bytes()
    for change in EDITS.values():
        m.edit(EXACT, change)(project)
        found = project.findings()[EXACT]
        assert (found.verdict, f"{EXACT}.json has been edited: it is not what its checksum says" in found.cause) == (
            "ALTERED",
            True,
        )
        Path(f"{EXACT}.json").write_bytes(kept)
    m.record(EXACT, EDITS["bytes"])(project)
    size = Path(EXACT).stat().st_size
    assert project.findings()[EXACT].cause == f"{EXACT}.json has been edited: bytes 1, and there are {size}"


def test_a_record_without_a_checksum_is_no_worse_and_none_changes_the_root(project):
    root = project.audit().root
    m.edit(EXACT, lambda record: record.pop("checksum"))(project)
    assert (project.verdicts(), project.audit().root) == ({}, root)


ODD = {
    "environment": lambda record: record["environment"].update(python=""),
    "outputs": lambda record: record.pop("outputs"),
    "volatile": lambda record: record["volatile"].pop("start"),
    "code": lambda record: record.pop("code"),
    "git": lambda record: record.update(git={}),
    "seeds": lambda record: record.update(seeds=3),
    "notes": lambda record: record.update(notes=["x"]),
}


@pytest.mark.parametrize("part", ODD)
def test_odd_records_are_one_sentence_and_name_the_part(part, project):
    m.edit(EXACT, ODD[part])(project)
    found = project.findings()[EXACT]
    said = f"{EXACT}.json lacks parts of a record, or has odd ones ({part}): delete it with its result and run again"
    assert (found.verdict, found.cause) == ("UNRECORDED", said)
    assert list(startup.differences(project.audit().chain.made)) == []


def test_the_page_has_the_table():
    page = mutation_page.PAGE.read_text()
    assert page == mutation_page.fill(page), "run `python tests/workflow/mutation_page.py`"
    assert [row for rows in mutation_page.GROUPS.values() for row in rows] == TABLE


def test_the_cause_of_what_is_downstream_is_its_source(project):
    (project.folder / PRETRAINED).unlink()
    findings = project.findings()
    assert {findings[path].cause for path in (EXACT, *AFTER_EXACT)} == {PRETRAINED}


def test_what_is_made_on_demand_is_a_result_where_it_is(project):
    made = project.audit().chain.made
    words, path = startup.words(made, "crate", {}), "results/crate.zip"
    command = ["scripts/crate.py", *words, "--output", path]
    with job_record.Job(rule="crate", inputs=words, outputs=[path], modules=["crate"], command=command) as job:
        job.path(path).write_text("zipped")
    assert (project.verdicts(), project.findings()[path].rule) == ({}, "crate")
    m.on(FIGURE[1], file_changes.one_bit)(project)
    assert project.verdicts() == {FIGURE[1]: "ALTERED", path: "DOWNSTREAM-OF"}
    m.delete(path)(project)
    m.delete(f"{path}.json")(project)
    assert path not in project.findings()


def test_many_sources_are_counted(project, monkeypatch):
    m.delete("results/tiny/measure/**/*.nc")(project)
    assert project.findings()[SPARSITY].cause == "; ".join(sorted(SPARSITIES))
    monkeypatch.setattr(verdicts, "NAMED", 1)
    assert project.findings()[SPARSITY].cause == f"{min(SPARSITIES)}; and 1 more"


def test_records_that_name_each_other_as_inputs(project):
    m.record(EXACT, lambda record: record["inputs"].update({SPARSITIES[0]: {"sha256": "0", "bytes": 1}}))(project)
    with pytest.raises(UserError, match=r"records name each other as inputs: results/tiny/.*, results/tiny/"):
        project.findings()
