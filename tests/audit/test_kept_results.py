"""Results that are kept with the project: packed, unpacked elsewhere, drawn without training, audited by records."""

import json
import lzma
import shutil
from pathlib import Path

import pytest

from carryover.audit import project as audits
from carryover.audit import replay
from carryover.errors import UserError
from carryover.kept import listing, packing
from carryover.workflow import startup
from toy.small_project import DESCENT, EXACT

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("audit")]

FOLDER = Path("resources/kept/tiny")
DATASETS = ["results/tiny/risk.nc", "results/tiny/sparsity.nc"]
PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"


def sweep(*files):
    return startup.valid_sweep(audits.configuration(["config/config.yaml", *files]), Path())


@pytest.fixture
def packed(project):
    """The project with its results packed and gone; {path: bytes} of what they were."""
    project.were = {path: path.read_bytes() for path in Path("results").rglob("*.nc*")}
    assert packing.pack(sweep(), FOLDER) == {}
    shutil.rmtree("results")
    return project


@pytest.fixture
def unpacked(packed):
    assert packing.unpack(sweep(), FOLDER) == DATASETS
    return packed


def test_what_is_unpacked_is_what_was_packed_and_of_what_it_was_made_of_the_records(unpacked):
    there = {path: path.read_bytes() for path in Path("results").rglob("*.nc*")}
    whole = {
        path for path in unpacked.were if path.parts[1] == "tiny" and (path.suffix == ".json" or len(path.parts) == 3)
    }
    assert there == {path: unpacked.were[path] for path in whole}
    assert {Path(f"{shard}.json") for shard in (EXACT, DESCENT, PRETRAINED)} <= there.keys()
    packing.unpack(sweep(), FOLDER)  # a second time changes nothing
    assert {path: path.read_bytes() for path in Path("results").rglob("*.nc*")} == there


def test_figures_are_drawn_of_them_and_nothing_is_trained(unpacked):
    done = unpacked.run_python("-m", "snakemake", "--cores", "2", "kept")
    assert done.returncode == 0, done.stderr
    listed = Path("results/logs/kept.log").read_text().splitlines()[1:]
    drawn = {Path(path) for path in listed}
    assert drawn == set(Path("results/figures").iterdir())
    assert {path.name for path in drawn if path.suffix == ".png"} == {"relu_penalty.png", "tiny_risk.png"}
    assert not Path(PRETRAINED).exists()
    found = unpacked.audit()
    assert {one.verdict for one in found.findings.values()} == {"OK"}
    assert set(found.findings[EXACT].remarks) == {"kept by its record alone"}
    assert not found.findings[DATASETS[0]].remarks


def test_an_audit_still_sees_what_is_not_as_it_was(unpacked):
    assert set(unpacked.verdicts()) == {path for path in unpacked.findings() if "figures" in path or "theory" in path}
    record = Path(f"{EXACT}.json")
    told = json.loads(record.read_text())
    told["command"].append("--samples 99")
    record.write_text(json.dumps(told))
    verdicts = unpacked.verdicts()
    assert verdicts[EXACT] == "ALTERED"
    assert verdicts[DATASETS[0]] == "DOWNSTREAM-OF"


def test_a_dataset_that_was_changed_is_altered_and_one_that_is_gone_is_missing(unpacked):
    Path(DATASETS[0]).write_bytes(b"nothing")
    Path(DATASETS[1]).unlink()
    verdicts = unpacked.verdicts()
    assert (verdicts[DATASETS[0]], verdicts[DATASETS[1]]) == ("ALTERED", "MISSING")


def test_a_shard_without_a_file_that_no_list_names_is_missing(unpacked):
    Path("results", listing.LIST).unlink()
    assert unpacked.verdicts()[EXACT] == "MISSING"


def test_a_replay_leaves_out_what_was_made_of_what_is_not_there(unpacked):
    made = unpacked.audit().chain
    replayed = {one.path: one.verdict for one in replay.replay(made, unpacked.folder, 9, seed=0)}
    assert replayed == {PRETRAINED: "SAME", DESCENT: "SAME"}


def test_an_experiment_of_which_something_is_missing_is_left_out_and_what_was_kept_of_it_stays(project):
    assert packing.pack(sweep(), FOLDER) == {}
    before = {path: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()}
    Path(f"{EXACT}.json").unlink()
    assert list(packing.pack(sweep(), FOLDER)) == ["tiny"]
    assert {path: path.read_bytes() for path in FOLDER.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("change", ["dataset", "shard"])
def test_what_is_not_as_its_record_says_is_not_kept(project, change):
    if change == "dataset":
        Path(DATASETS[0]).write_bytes(b"nothing")
    else:
        record = Path(f"{DATASETS[0]}.json")
        told = json.loads(record.read_text())
        told["inputs"][EXACT]["sha256"] = "0" * 64
        record.write_text(json.dumps(told))
    said = packing.pack(sweep(), FOLDER)["tiny"]
    assert "is not what its record says" in said or "is not the one that" in said
    assert not listing.read(FOLDER)


def test_files_that_are_there_already_are_not_overwritten(packed):
    Path(DATASETS[1]).parent.mkdir(parents=True)
    Path(DATASETS[1]).write_bytes(b"mine")
    with pytest.raises(UserError, match=f"{DATASETS[1]} is there already"):
        packing.unpack(sweep(), FOLDER)
    assert [path for path in Path("results").rglob("*") if path.is_file()] == [Path(DATASETS[1])]


def test_another_configuration_s_results_are_refused(packed):
    Path("other.yaml").write_text("pathvars: {results: results/other}\n")
    with pytest.raises(UserError, match=r"which is not in results/other: name its configuration"):
        packing.unpack(sweep("other.yaml"), FOLDER)


def test_a_list_that_leads_out_of_the_results_is_refused(packed):
    file = FOLDER / listing.LIST
    file.write_text(file.read_text().replace("results/tiny/risk.nc,", "results/../tiny/risk.nc,"))
    with pytest.raises(UserError, match=r"results/\.\./tiny"):
        packing.unpack(sweep(), FOLDER)


@pytest.mark.parametrize("content", [b"nothing", lzma.compress(b"another"), lzma.compress(bytes(10**8)), None])
def test_a_damaged_folder_is_refused(packed, content):
    file = FOLDER / "tiny/risk.nc.xz"
    file.write_bytes(file.read_bytes()[:-20] if content is None else content)
    with pytest.raises(UserError, match=r"risk\.nc\.xz"):
        packing.unpack(sweep(), FOLDER)
    assert not Path("results").exists()


@pytest.mark.parametrize("text", ["path,sha256\n", "", "path,sha256,bytes,packed\na,b,c,d\n", "\x00"])
def test_a_list_that_is_none_is_named(tmp_path, text):
    (tmp_path / listing.LIST).write_text(text)
    with pytest.raises(UserError, match=r"kept\.csv is no list of kept results"):
        listing.read(tmp_path)


def test_the_command_packs_and_unpacks_and_says_what_is_missing(project):
    said = project.run_python("scripts/kept.py", "pack", FOLDER)
    assert (said.returncode, said.stdout) == (0, "")
    shutil.rmtree("results")
    said = project.run_python("scripts/kept.py", "unpack", FOLDER)
    assert "2 datasets of resources/kept/tiny are in results" in said.stdout
    shutil.rmtree("results")
    said = project.run_python("scripts/kept.py", "pack", FOLDER)
    assert said.stdout.startswith("tiny: left out, results/tiny/risk.nc.json is missing")
    said = project.run_python("scripts/kept.py", "unpack", "nowhere")
    assert (said.returncode, said.stderr) == (1, "kept: nowhere keeps no results: there is no kept.csv.\n")
