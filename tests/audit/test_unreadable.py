"""What an audit cannot read, or what lies among results and is none, is said; it neither hangs nor ends in a trace."""

import builtins
import errno
import os
import shutil
from pathlib import Path

import pytest

import crate
from carryover.audit import project as audits
from carryover.errors import UserError
from carryover.provenance import record_index, store
from carryover.workflow import startup
from toy.small_project import EXACT
from workflow.mutation_rows import ALL, FIGURE, RISK

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]
PIPE = "cannot be read: it is no regular file"


def pipe(path):
    Path(path).unlink(missing_ok=True)
    os.mkfifo(path)


def forbid(monkeypatch, folder):
    """As for a user who may neither list nor read what is below a folder; root may."""

    def refusing(call):
        def checked(path=".", *rest, **named):
            if isinstance(path, str | Path) and str(path).startswith(folder):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return call(path, *rest, **named)

        return checked

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(builtins, "open", refusing(open))


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


def test_a_pipe_in_the_place_of_a_record(project):
    pipe(f"{RISK}.json")
    found = project.findings()[RISK]
    assert (found.verdict, found.cause) == ("UNRECORDED", f"{RISK}.json {PIPE}")
    assert list(startup.differences(project.audit().chain.made)) == []


STRAY = {"lists": "[" * 100_000, "mappings": '{"a":' * 100_000, "a zero": "\0", "nothing": ""}


@pytest.mark.parametrize("text", STRAY.values(), ids=STRAY)
def test_stray_json_is_a_file_like_any_other(text, project):
    Path("results/stray.json").write_text(text)
    assert project.verdicts() == {"results/stray.json": "UNRECORDED"}


def test_a_folder_without_permission(project, monkeypatch):
    forbid(monkeypatch, "results/tiny")
    found = project.findings()
    inside = [path for path in ALL if path.startswith("results/tiny/")]
    assert {found[path].verdict for path in ["results/tiny", *inside]} == {"UNREADABLE"}
    assert {found[path].cause for path in ["results/tiny", *inside]} == {"cannot be read: Permission denied"}
    assert {found[path].verdict for path in set(ALL) - {*inside, *FIGURE}} == {"OK"}


def test_one_file_without_permission_and_a_folder_in_the_place_of_one(project, monkeypatch):
    Path(RISK).unlink()
    Path(RISK).mkdir()
    forbid(monkeypatch, EXACT)
    found = project.findings()
    assert (found[RISK].verdict, found[RISK].cause) == ("UNREADABLE", "cannot be read: Is a directory")
    assert found[EXACT].verdict == "UNREADABLE"


def test_an_input_without_permission_is_not_missing(project, monkeypatch):
    forbid(monkeypatch, "config/figures.mplstyle")
    cause = "config/figures.mplstyle cannot be read: Permission denied"
    assert {project.findings()[path].cause for path in FIGURE} == {cause}


@pytest.mark.parametrize("text", ["3", "{results: 3}", "[results]", "{results: , logs: x}"])
def test_path_variables_of_another_form(text, project):
    Path("overlay.yaml").write_text(f"pathvars: {text}")
    with pytest.raises(UserError, match=r"^pathvars: .* is not allowed: it must be \{results: FOLDER\}$"):
        audits.configuration(["config/config.yaml", "overlay.yaml"])


def test_a_crate_among_results_is_passed_over_and_named(project):
    root = project.audit().root
    for name in ("README.md", "LICENSE"):
        Path(name).touch()
    Path("results/kept").mkdir()
    crate.main(["results", "--output", "results/kept/crate"])
    found = project.audit()
    assert ({f.verdict for f in found.findings.values()}, found.root) == ({"OK"}, root)
    assert (set(found.findings), found.chain.crates) == (set(ALL), ["results/kept/crate"])
    assert set(record_index.all_made("results")) == set(ALL)
    assert set(record_index.all_made("results/kept/crate/results")) == set(ALL)
    shutil.rmtree("results/kept/crate/rules")
    assert project.verdicts() == {}
