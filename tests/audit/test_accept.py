"""A note accepts one state of one result, and no other; the root digest is over all records but not their notes."""

import json
from pathlib import Path

import pytest

import accept
from carryover.audit import chain, notes, report
from carryover.errors import UserError
from carryover.provenance import job_record
from toy.small_project import DESCENT, EXACT
from workflow import file_changes
from workflow import mutations as m

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]

CURVE, FIGURE, STYLE = "results/theory/relu_penalty.nc", "results/figures/relu_penalty.svg", "config/figures.mplstyle"
PLOT = "scripts/carryover/curves/relu_penalty.py"


def change_rate(rate):
    return m.configure(lambda config: m.finetune(config).update(learning_rate=rate))


def pin(version):
    """What envs/lock.txt asks for, whatever it did."""

    def mutation(project):
        path = project.folder / "envs/lock.txt"
        lines = [f"numpy=={version}" if line.startswith("numpy==") else line for line in path.read_text().splitlines()]
        path.write_text("\n".join(lines))

    return mutation


STATES = [
    ("ALTERED", DESCENT, m.on(DESCENT, file_changes.one_value), m.on(DESCENT, file_changes.one_value)),
    ("STALE-CODE", CURVE, m.append(PLOT, "\nNEW = 1\n"), m.append(PLOT, "\nNEWER = 1\n")),
    ("STALE-CONFIG", DESCENT, change_rate(0.03), change_rate(0.04)),
    ("STALE-INPUT", FIGURE, m.append(STYLE, "axes.grid: True\n"), m.append(STYLE, "axes.linewidth: 2\n")),
    ("STALE-ENV", CURVE, pin("9.8"), pin("9.9")),
]


@pytest.mark.parametrize(("verdict", "path", "change", "further"), STATES, ids=lambda state: str(state)[:12])
def test_what_is_accepted_is_that_state_alone(verdict, path, change, further, project):
    change(project)
    before = project.audit()
    assert before.findings[path].verdict == verdict
    notes.accept(before.findings, "looked at by hand", [path])
    after = project.audit()
    assert (after.findings[path].verdict, after.root) == ("OK", before.root)
    assert f"accepted: looked at by hand ({verdict}: " in " ".join(after.findings[path].remarks)
    others = {name: found.verdict for name, found in before.findings.items() if found.verdict == verdict}
    assert others.items() - {(path, verdict)} <= {name: f.verdict for name, f in after.findings.items()}.items()
    further(project)
    again = project.audit()
    assert again.findings[path].verdict == verdict
    notes.accept(again.findings, "still", [path])
    assert [note["reason"] for note in job_record.read(f"{path}.json")["notes"]] == ["looked at by hand", "still"]
    assert project.findings()[path].verdict == "OK"


def test_accepting_one_cause_does_not_hide_another(project):
    m.append(PLOT, "\nNEW = 1\n")(project)
    notes.accept(project.findings(), "a constant that nothing reads", [CURVE])
    m.on(CURVE, file_changes.one_value)(project)
    assert project.findings()[CURVE].verdict == "ALTERED"


def test_accepting_what_is_upstream_leaves_what_was_made_of_other_bytes(project):
    m.on(CURVE, file_changes.one_value)(project)
    notes.accept(project.findings(), "rounding", [CURVE])
    assert project.findings()[FIGURE].verdict == "STALE-INPUT"


def test_refuses_without_writing_anything(project):
    m.delete(EXACT)(project)
    m.delete("results/tiny/finetune/protocol*/0.nc.json")(project)
    m.append(PLOT, "\nNEW = 1\n")(project)
    records = {path: path.read_bytes() for path in Path("results").rglob("*.json")}
    findings = project.findings()
    downstream = "is DOWNSTREAM-OF results/theory/relu_penalty.nc: accept what is upstream"
    cases = [
        (" ", [CURVE], "--reason is empty"),
        ("x", [CURVE, "results/gone.nc"], r"results/gone\.nc is no result that this audit knows"),
        ("x", [CURVE, EXACT], "is MISSING: no file; only what has a record"),
        ("x", [CURVE, DESCENT], "is UNRECORDED: no record; only what has a record"),
        ("x", [CURVE, FIGURE], downstream),
        ("x", [CURVE, "results/tiny/pretrain/solver~exact/0.nc"], "is OK: there is nothing to accept"),
    ]
    for reason, paths, sentence in cases:
        with pytest.raises(UserError, match=sentence):
            notes.accept(findings, reason, paths)
    assert {path: path.read_bytes() for path in Path("results").rglob("*.json")} == records


def note(project, reason):
    notes.accept(project.findings(), reason, [CURVE])


NOTE_EDITS = {
    "the first reason": lambda found: found["notes"][0].update(reason="edited"),
    "the last reason": lambda found: found["notes"][1].update(reason="edited"),
    "the first taken out": lambda found: found["notes"].pop(0),
    "the order": lambda found: found["notes"].reverse(),
    "a link taken out": lambda found: found["notes"][1].pop("link"),
    "the first with a link that fits": lambda found: found["notes"].__setitem__(
        0, {**(edited := {"reason": "x", "date": "", "causes": []}), "link": notes._link({}, edited)}
    ),
}


def test_edited_notes_are_seen_and_accept_nothing(project):
    m.append(PLOT, "\nNEW = 1\n")(project)
    note(project, "first")
    m.append(PLOT, "\nNEWER = 1\n")(project)
    note(project, "second")
    found = project.audit()
    assert (project.verdicts(), found.notes) == (
        {},
        job_record.json_digest([[CURVE, job_record.json_digest(job_record.read(f"{CURVE}.json")["notes"])]]),
    )
    kept = Path(f"{CURVE}.json").read_bytes()
    for name, change in NOTE_EDITS.items():
        m.edit(CURVE, change)(project)
        edited = project.audit()
        assert edited.findings[CURVE].cause == f"the notes of {CURVE}.json have been edited", name
        assert {cause.verdict for cause in edited.findings[CURVE].causes} == {"ALTERED", "STALE-CODE"}
        assert edited.notes != found.notes
        with pytest.raises(UserError, match="have been edited: put back what stood there, or run again"):
            note(project, "third")
        Path(f"{CURVE}.json").write_bytes(kept)


def test_notes_of_old_without_links_are_read_and_guarded_by_later_ones(project):
    m.append(PLOT, "\nNEW = 1\n")(project)
    note(project, "old")
    m.edit(CURVE, lambda found: found["notes"][0].pop("link"))(project)
    assert project.verdicts() == {}
    m.append(PLOT, "\nNEWER = 1\n")(project)
    note(project, "new")
    assert project.verdicts() == {}
    m.edit(CURVE, lambda found: found["notes"][0].update(reason="edited"))(project)
    assert project.findings()[CURVE].cause == f"the notes of {CURVE}.json have been edited"


def test_the_command(project, capsys, monkeypatch):
    m.append(PLOT, "\nNEW = 1\n")(project)
    monkeypatch.setattr(accept, "ROOT", project.folder)
    accept.main(["--reason", "a constant that nothing reads", str(project.folder / CURVE)])
    assert capsys.readouterr().out == f"{CURVE}: STALE-CODE accepted: {PLOT} has changed\n"
    found = project.audit()
    said = [report.summary(found.findings.values()), *report.remarks(report.Outcome(found, asked_root=found.root))]
    assert said == [
        "All 14 artefacts are OK, 1 of them by an accepted difference.",
        "Not checked: the files of installed packages, whose versions are compared (--packages checks them).",
        f"Root digest of 14 records: {found.root}",
        f"Digest of the notes, which the root digest leaves out: {found.notes}",
    ]


def test_the_root_digest_is_over_every_record(project):
    found = project.audit()
    parts = [[path, job_record.record_digest(json.loads(Path(f"{path}.json").read_text()))] for path in found.findings]
    assert found.root == job_record.json_digest(sorted(parts))
    roots = {found.root}
    changes = [
        m.record(CURVE, lambda record: record["seeds"].append(1)),
        m.delete(f"{CURVE}.json"),
        m.swap(EXACT, DESCENT),
    ]
    for number, change in enumerate(changes, start=2):
        change(project)
        roots.add(project.audit().root)
        assert len(roots) == number
    m.record(FIGURE, lambda record: record["volatile"].update(host="elsewhere"))(project)
    m.delete(EXACT)(project)  # a result, not its record
    assert chain.root_digest(project.audit().chain) in roots
