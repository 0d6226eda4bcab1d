"""The archive: a dataset is used where it is what the configuration asks for, whatever the code is by then."""

import hashlib
import json
import lzma
import re
import shutil
from pathlib import Path

import pytest

from carryover import archive
from carryover.errors import UserError
from carryover.provenance import store
from carryover.workflow import startup
from toy.small_project import TINY

pytestmark = pytest.mark.xdist_group("audit")

FOLDER = "resources/archive/tiny"
PLACE = Path(FOLDER, "tiny")
PACKED, RECORD = PLACE / "risk.nc.xz", PLACE / "risk.json"
RISK = "results/tiny/risk.nc"
TRAINER = "scripts/carryover/families/diagonal/solvers.py"


@pytest.fixture(scope="module")
def packed(finished_project, tmp_path_factory):
    """A project whose datasets are archived and whose results are gone. Nobody changes it."""
    folder = tmp_path_factory.mktemp("packed") / "project"
    project = finished_project.copy(folder, ignore=shutil.ignore_patterns(".snakemake"))
    project.configure(project.config() | {"archive": FOLDER})
    done = project.run_python("scripts/archive.py", "pack")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    shutil.rmtree(folder / "results")
    return project


@pytest.fixture
def project(packed, tmp_path, monkeypatch):
    """A copy of it, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    project = packed.copy(tmp_path / "project")
    monkeypatch.chdir(project.folder)
    return project


def change(project, **finetune):
    """Change the configuration of the network that is trained by descent."""
    config = project.config()
    config["experiments"]["tiny"]["finetune"]["grids"]["simulated"] |= finetune
    project.configure(config)


def record(**changes):
    RECORD.write_text(json.dumps(json.loads(RECORD.read_text()) | changes))


def test_promise_archive_never_forbids_change(project, finished_project):
    project.make("results/figures/tiny_risk.png")
    unpacked, trained = (
        store.load(folder / RISK).drop_attrs(deep=False) for folder in (project.folder, finished_project.folder)
    )
    assert unpacked.identical(trained)
    assert not Path("results/tiny/finetune").exists()

    project.replace(TRAINER, "\nimport ", "\nANOTHER = 1\nimport ")
    assert project.would_run("results/figures/tiny_risk.png") == {}
    finding = project.audit().findings[RISK]
    assert (finding.verdict, finding.cause) == ("OK", "archived, made at commit unknown")

    change(project, tolerance=0.001)
    where = "finetune: protocol single_task, solver descent"
    difference = f"not as archived: {where}: tolerance 0.01 → 0.001."
    planned = project.make("--dry-run")
    assert f"carryover: tiny is trained: tiny/risk: {difference}\n" in planned
    assert "\nrule finetune:" in planned
    checked = project.run_python("scripts/archive.py", "check")
    assert checked.returncode == 1
    assert checked.stderr == f"archive: tiny/risk: {difference}\narchive: tiny/sparsity: {difference}\n"


def test_a_request_is_what_is_asked_and_not_how_it_is_made(project):
    def mismatch(**changes):
        spec = TINY["experiments"]["tiny"]
        config = {"experiments": {"tiny": spec | {"measures": {"risk": {}}, "split": []} | changes}, "archive": FOLDER}
        return archive.mismatch(startup.Sweep(config, project.folder), "tiny", "risk")

    finetune = TINY["experiments"]["tiny"]["finetune"]
    grids = finetune["grids"]
    assert mismatch(block=1, split=["samples"], resources={"mem_mb": 9}) == ""
    renamed = {"first": grids["simulated"], "second": grids["solved"] | {"readout_scale": 2e-2}}
    assert mismatch(finetune=finetune | {"samples": [8, 4], "grids": renamed}) == ""
    assert mismatch(seeds=3) == "tiny/risk: not as archived: seeds 2 → 3."
    asked = json.loads(RECORD.read_text())["request"]
    for stage in ("pretrain", "finetune"):
        for grid in asked[stage].values():
            del grid["dimension"]
    record(request=asked)
    said = r"tiny/risk: not as archived: pretrain: solver exact[^:]*: dimension 1000 → 12 \(2 more\)\."
    assert re.fullmatch(said, mismatch())  # what the record lacks counts as its default
    assert mismatch(task={"auxiliary_features": 3}) == ""


BAD = {
    "truncated": (
        lambda: PACKED.write_bytes(PACKED.read_bytes()[:-20]),
        f"{PACKED} is truncated or exchanged: its record names another file, so restore both.",
    ),
    "no JSON": (lambda: RECORD.write_text("{"), f"{RECORD} is no record of an archived dataset ("),
    "negative": (
        lambda: record(unpacked={"sha256": "0", "bytes": -1}),
        f"{RECORD} is no record of an archived dataset (unpacked.bytes must be ",
    ),
    "no whole number": (
        lambda: record(unpacked={"sha256": "0", "bytes": 1e3}),
        f"{RECORD} is no record of an archived dataset (unpacked.bytes must be ",
    ),
    "not there": (RECORD.unlink, f"tiny/risk is not in {FOLDER}."),
}


@pytest.mark.extended
@pytest.mark.parametrize("bad", BAD)
def test_bad_input_is_said_in_one_sentence_and_nothing_is_written(project, bad):
    spoil, said = BAD[bad]
    spoil()
    done = project.run_python("scripts/archive.py", "check")
    assert done.returncode == 1
    assert done.stderr.startswith(f"archive: {said}")
    assert done.stderr.count("\n") == 1
    words = ("--sha256", "0", "--output", RISK)
    done = project.run_python("scripts/unarchive.py", str(PACKED), *words)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert not Path("results").exists()


def test_no_more_is_unpacked_than_the_record_says(project):
    small = lzma.compress(bytes(10**7))
    PACKED.write_bytes(small)
    record(packed={"sha256": hashlib.sha256(small).hexdigest(), "bytes": len(small)})
    with pytest.raises(UserError, match=r"risk\.nc\.xz unpacks to other bytes than its record names: restore both\.$"):
        archive.unpack(PACKED)
