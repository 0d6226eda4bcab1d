"""What packing takes the place of: what was packed of the same results, and nothing that would be lost."""

import copy
import json
import shutil
from pathlib import Path

import pytest

from carryover.audit import project as audits
from carryover.errors import UserError
from carryover.kept import packing, reading, replacing
from carryover.provenance import job_record
from carryover.workflow import startup

pytestmark = pytest.mark.xdist_group("audit")

FOLDER = Path("resources/kept/tiny")
PLACE = FOLDER / "tiny"
RISK = PLACE / "risk.nc.xz"


def files(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def made_anew():
    """The same results, as of jobs that took another time."""
    for path in Path("results/tiny").rglob("*.nc.json"):
        record = json.loads(path.read_text())
        record["volatile"]["duration"] = 1e3
        record["checksum"] = job_record.checksum(record)
        path.write_text(job_record.as_text(record))


@pytest.fixture
def configured(project):
    """A function that gives the finished project's `Sweep`, with top keys, and measures of its experiment, changed."""

    def sweep(measures=None, **changes):
        config = copy.deepcopy(audits.configuration(["config/config.yaml"])) | {"kept": FOLDER.as_posix()} | changes
        if measures is not None:
            config["experiments"]["tiny"]["measures"] = measures
        return startup.valid_sweep(config, Path())

    return sweep


@pytest.fixture
def packed(configured):
    """The same, of a project whose results were packed."""
    assert packing.pack(configured()) == {}
    return configured


def test_packing_anew_keeps_what_there_is_now(configured):
    PLACE.mkdir(parents=True)
    assert packing.pack(configured()) == {}
    packed = files(FOLDER)
    RISK.write_bytes(b"damaged")
    (PLACE / "sparsity.nc.xz").unlink()
    assert packing.pack(configured()) == {}
    assert files(FOLDER) == packed
    assert {path.name for path in packed} == {reading.RECORDS, "risk.nc.xz", "sparsity.nc.xz"}


def test_what_is_kept_already_is_left_as_it_is(packed):
    before = {path: path.stat().st_mtime_ns for path in files(FOLDER)}
    assert packing.pack(packed()) == {}
    assert {path: path.stat().st_mtime_ns for path in files(FOLDER)} == before


def test_results_that_were_made_anew_are_packed_anew(packed):
    before = reading.records(packed(), "tiny")
    made_anew()
    assert packing.pack(packed()) == {}
    after = reading.records(packed(), "tiny")
    assert after.keys() == before.keys()
    assert {record["volatile"]["duration"] for record in after.values()} == {1e3}


@pytest.mark.parametrize("place", ["results", "results/mine", "results/tiny", "linked"])
@pytest.mark.parametrize("do", [packing.pack, packing.unpack])
def test_results_are_not_kept_among_results(configured, place, do):
    Path("linked").symlink_to("results")
    before = files(".")
    with pytest.raises(UserError, match=rf"^configuration: kept: {place} is not allowed; it must be a folder outside"):
        do(configured(kept=place))
    assert files(".") == before


def test_results_are_not_kept_around_results(configured):
    shutil.move("results", "mine/tiny")
    with pytest.raises(UserError, match=r"^configuration: kept: mine is not .* \(mine/tiny\), and not around it\.$"):
        packing.pack(configured(kept="mine", pathvars={"results": "mine/tiny"}))


@pytest.mark.parametrize("name", ["notes.txt", "more/notes.txt", "norms.nc.xz", ".hidden"])
def test_what_was_not_packed_is_not_replaced(packed, name):
    (PLACE / name).parent.mkdir(exist_ok=True)
    (PLACE / name).write_text("mine")
    before = files(FOLDER)
    first = name.partition("/")[0]
    said = packing.pack(packed())["tiny"]
    assert said == f"{PLACE / first} was not packed there, as far as records.json.xz says: move it away to pack"
    assert files(FOLDER) == before


def test_a_folder_of_the_user_s_own_is_not_replaced(configured):
    Path("config/tiny").mkdir()
    Path("config/tiny/risk.nc.xz").write_text("mine")
    said = packing.pack(configured(kept="config"))["tiny"]
    assert said.startswith("config/tiny/risk.nc.xz was not packed there")
    assert Path("config/tiny/risk.nc.xz").read_text() == "mine"


def test_damaged_records_are_not_replaced(packed):
    (PLACE / reading.RECORDS).write_text("mine")
    before = files(FOLDER)
    assert "records.json.xz is damaged" in packing.pack(packed())["tiny"]
    assert files(FOLDER) == before


@pytest.mark.parametrize("measures", [{}, {"risk": {}}])
def test_a_dataset_of_which_the_measure_is_gone_stays_and_is_named(packed, measures):
    gone = "sparsity" if measures else "risk"
    before = files(FOLDER)
    said = packing.pack(packed(measures))["tiny"]
    assert said.startswith(f"{PLACE}/{gone}.nc.xz is of a measure that the configuration does not have, and stays")
    assert files(FOLDER) == before
    for measure in {"risk", "sparsity"} - measures.keys():
        (PLACE / f"{measure}.nc.xz").unlink()
    assert packing.pack(packed(measures)) == {}


def test_an_experiment_without_measures_is_not_packed(configured):
    assert packing.pack(configured({})) == {}
    assert not FOLDER.exists()


def test_the_results_of_another_configuration_are_not_mixed_with_these(packed):
    shutil.copytree("results", "others")
    before = files(FOLDER)
    with pytest.raises(UserError, match=r"is of another configuration, whose results are in results, not in others: "):
        packing.pack(packed(pathvars={"results": "others"}))
    (FOLDER / "damaged").mkdir()
    (FOLDER / "damaged" / reading.RECORDS).write_text("of no experiment of this configuration")
    assert packing.pack(packed()) == {}
    assert before.items() <= files(FOLDER).items()


@pytest.mark.parametrize("what", ["link", "broken link", "file"])
def test_a_link_or_a_file_in_the_place_is_named(packed, what, tmp_path):
    PLACE.rename(tmp_path / "elsewhere")
    if what == "file":
        PLACE.write_text("mine")
    else:
        PLACE.symlink_to(tmp_path / ("elsewhere" if what == "link" else "nowhere"))
    before = files(FOLDER), files(tmp_path / "elsewhere")
    said = packing.pack(packed())["tiny"]
    assert said == f"{PLACE} is no folder that `pack` has made: move it away to pack"
    assert (files(FOLDER), files(tmp_path / "elsewhere")) == before


def test_a_file_that_is_a_link_is_not_replaced(packed, tmp_path):
    RISK.rename(tmp_path / "risk")
    RISK.symlink_to(tmp_path / "risk")
    assert packing.pack(packed())["tiny"].startswith(f"{RISK} was not packed there")
    assert RISK.is_symlink()


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError])
def test_what_was_packed_is_there_until_the_new_is_whole(packed, monkeypatch, end):
    before = files(FOLDER)

    def rename(path, target, rename=Path.rename):
        if ".tmp" in path.name:
            raise end
        return rename(path, target)

    made_anew()
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(end):
        packing.pack(packed())
    assert files(FOLDER) == before
    assert [path.name for path in FOLDER.iterdir()] == ["tiny"]


def test_what_a_killed_process_had_moved_aside_is_taken_away(packed):
    before = files(FOLDER)
    shutil.copytree(PLACE, FOLDER / ".tiny.old")
    with replacing.in_place_of(PLACE) as fresh:
        for path, content in before.items():
            (fresh / path.name).write_bytes(content)
    assert files(FOLDER) == before


def test_the_command_says_what_it_refuses_in_one_sentence(project):
    project.configure(project.config() | {"kept": "results"})
    said = project.run_python("scripts/kept.py", "pack")
    assert (said.returncode, said.stdout) == (1, "")
    assert said.stderr.startswith("kept: configuration: kept: results is not allowed; ")
    assert len(said.stderr.splitlines()) == 1
    project.configure(project.config() | {"kept": FOLDER.as_posix()})
    FOLDER.mkdir(parents=True)
    PLACE.write_text("mine")
    said = project.run_python("scripts/kept.py", "pack")
    line = f"tiny: left out, {PLACE} is no folder that `pack` has made: move it away to pack."
    assert (said.returncode, said.stderr) == (1, "")
    assert said.stdout.splitlines()[0] == line
