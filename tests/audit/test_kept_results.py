"""Results that are kept with the project: packed, unpacked elsewhere, drawn without training, audited by records."""

import json
import lzma
import shutil
from pathlib import Path

import pytest

from carryover.audit import project as audits
from carryover.audit import replay, report
from carryover.errors import UserError
from carryover.kept import packing, reading
from carryover.provenance import job_record, store
from carryover.workflow import kept_results, startup
from toy.small_project import DESCENT, EXACT

pytestmark = pytest.mark.xdist_group("audit")

FOLDER = Path("resources/kept/tiny")
PLACE = FOLDER / "tiny"
DATASETS = ["results/tiny/risk.nc", "results/tiny/sparsity.nc"]
PRETRAINED = "results/tiny/pretrain/solver~exact/0.nc"


def sweep(**changes):
    config = audits.configuration(["config/config.yaml"]) | changes
    return startup.valid_sweep(config, Path())


def files(folder):
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def stamped(path, change):
    """Change a record as someone would who knows how it is checked."""
    record = Path(f"{path}.json")
    told = json.loads(record.read_text())
    change(told)
    told["request"] = job_record.request_digest(told)
    told["checksum"] = job_record.checksum(told)
    record.write_text(job_record.as_text(told))


@pytest.fixture
def keeping(project):
    """The project, whose configuration keeps results."""
    project.configure(project.config() | {"kept": FOLDER.as_posix()})
    return project


@pytest.fixture
def packed(keeping):
    """The project with its results packed and gone; {path: bytes} of what they were."""
    keeping.were = {path: content for path, content in files("results").items() if ".nc" in path.name}
    assert packing.pack(sweep()) == {}
    shutil.rmtree("results")
    return keeping


@pytest.fixture
def unpacked(packed):
    assert packing.unpack(sweep()) == DATASETS
    return packed


def test_what_is_unpacked_is_what_was_packed_and_of_what_it_was_made_of_the_records(unpacked):
    there = files("results")
    own = {
        path for path in unpacked.were if path.parts[1] == "tiny" and (path.suffix == ".json" or len(path.parts) == 3)
    }
    assert there == {path: unpacked.were[path] for path in own}
    assert {Path(f"{shard}.json") for shard in (EXACT, DESCENT, PRETRAINED)} <= there.keys()
    packing.unpack(sweep())  # a second time changes nothing
    assert files("results") == there


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
    assert "; 5 kept by their records alone, without bytes to check" in report.summary(found.findings.values())


def test_of_what_is_not_unpacked_nothing_is_made(unpacked):
    Path(DATASETS[0]).unlink()
    made = kept_results.made_of_kept(sweep())
    assert {Path(path).name for path in made if path.endswith(".png")} == {"relu_penalty.png"}
    assert DATASETS[0] not in made


def test_an_audit_still_sees_what_is_not_as_it_was(unpacked):
    assert set(unpacked.verdicts()) == {path for path in unpacked.findings() if "figures" in path or "theory" in path}
    record = Path(f"{EXACT}.json")
    told = json.loads(record.read_text())
    told["command"].append("--samples 99")
    record.write_text(json.dumps(told))
    verdicts = unpacked.verdicts()
    assert verdicts[EXACT] == "ALTERED"
    assert verdicts[DATASETS[0]] == "DOWNSTREAM-OF"


def test_a_dataset_that_was_made_up_with_its_record_is_not_the_one_that_is_kept(unpacked):
    data = store.load(DATASETS[0])
    data["risk_final"] *= 0.1
    store.save(data, DATASETS[0])
    known = {"sha256": store.sha256(DATASETS[0]), "bytes": Path(DATASETS[0]).stat().st_size,
             "content": store.content_digest(DATASETS[0])}  # fmt: skip
    stamped(DATASETS[0], lambda told: told["outputs"].update({DATASETS[0]: known}))
    assert unpacked.findings()[DATASETS[0]].cause == "what it was made of is not here, and it is not what is kept"


def test_a_shard_that_was_made_up_is_missing(unpacked):
    stamped(EXACT, lambda told: told["outputs"][EXACT].update(sha256="0" * 64))
    assert unpacked.verdicts()[EXACT] == "MISSING"


def test_a_dataset_that_was_changed_is_altered_and_one_that_is_gone_is_missing(unpacked):
    Path(DATASETS[0]).write_bytes(b"nothing")
    Path(DATASETS[1]).unlink()
    verdicts = unpacked.verdicts()
    assert (verdicts[DATASETS[0]], verdicts[DATASETS[1]]) == ("ALTERED", "MISSING")


def test_without_what_is_kept_a_shard_without_a_file_is_missing(unpacked):
    shutil.rmtree(FOLDER)
    assert unpacked.verdicts()[EXACT] == "MISSING"


def test_a_replay_leaves_out_what_is_not_there_and_what_was_made_of_it(unpacked):
    made = unpacked.audit().chain
    assert list(replay.replay(made, unpacked.folder, 9, seed=0)) == []


def test_what_was_made_here_of_the_same_is_there_already(unpacked):
    """Another run of a job has another record; so has a result of which a difference was accepted."""
    stamped(PRETRAINED, lambda told: told["volatile"].update(duration=99.0))
    before = files("results")
    packing.unpack(sweep())
    assert files("results") == before
    assert unpacked.findings()[PRETRAINED].verdict == "OK"


def test_an_experiment_of_which_something_is_missing_is_left_out_and_what_was_kept_of_it_stays(keeping):
    assert packing.pack(sweep()) == {}
    before = files(FOLDER)
    Path(f"{EXACT}.json").unlink()
    assert list(packing.pack(sweep())) == ["tiny"]
    assert files(FOLDER) == before


@pytest.mark.parametrize("change", ["dataset", "shard"])
def test_what_is_not_as_its_record_says_is_not_kept(keeping, change):
    if change == "dataset":
        Path(DATASETS[0]).write_bytes(b"nothing")
    else:
        stamped(DATASETS[0], lambda told: told["inputs"][EXACT].update(sha256="0" * 64))
    said = packing.pack(sweep())["tiny"]
    assert "is not what its record says" in said or "is not the one that" in said
    assert not reading.experiments(sweep())


def test_files_that_are_there_already_are_not_overwritten(packed):
    Path(DATASETS[1]).parent.mkdir(parents=True)
    Path(DATASETS[1]).write_bytes(b"mine")
    with pytest.raises(UserError, match=f"{DATASETS[1]} is there already"):
        packing.unpack(sweep())
    assert list(files("results")) == [Path(DATASETS[1])]


def test_the_record_of_another_result_is_not_overwritten(unpacked):
    shutil.rmtree("results/tiny/pretrain")
    stamped(EXACT, lambda told: told["outputs"][EXACT].update(sha256="0" * 64))
    before = files("results")
    with pytest.raises(UserError, match=r"0\.nc\.json is there already, of another result than is kept"):
        packing.unpack(sweep())
    assert files("results") == before


def test_another_configuration_s_results_are_refused(packed):
    said = r"^\S*json\.xz is of another configuration, whose results are in results, not in results/other: name"
    with pytest.raises(UserError, match=said):
        packing.unpack(sweep(pathvars={"results": "results/other"}))


@pytest.mark.parametrize("gone", [["risk.nc.xz"], ["records.json.xz"], ["risk.nc.xz", "sparsity.nc.xz"]])
def test_what_is_gone_of_what_was_packed_is_named(packed, gone):
    for name in gone:
        (PLACE / name).unlink()
    named = ", ".join(f"tiny/{name}" for name in gone)
    with pytest.raises(UserError, match=rf"^resources/kept/tiny lacks {named}: put back what was packed there\.$"):
        packing.unpack(sweep())
    assert not Path("results").exists()


def test_of_much_that_is_gone_the_first_is_named(packed):
    for name in "abcd":
        (FOLDER / name).mkdir()
        (FOLDER / name / "risk.nc.xz").touch()
    with pytest.raises(UserError, match=r"lacks a/records\.json\.xz, b/\S+, c/\S+ and 1 more: put back"):
        packing.unpack(sweep())


def test_a_packed_dataset_without_a_record_is_refused(packed):
    shutil.copy(PLACE / "risk.nc.xz", PLACE / "norms.nc.xz")
    with pytest.raises(UserError, match=r"norms\.nc\.xz is of no record in records\.json\.xz beside it: move it away"):
        packing.unpack(sweep())
    assert not Path("results").exists()


def test_what_a_killed_process_left_half_written_is_no_experiment(packed):
    shutil.copytree(PLACE, FOLDER / ".tiny.tmp99999999")
    assert reading.experiments(sweep()) == ["tiny"]
    assert packing.unpack(sweep()) == DATASETS


def test_a_configuration_that_keeps_nothing_is_told_so(project):
    for do in (packing.pack, packing.unpack):
        with pytest.raises(UserError, match="the configuration keeps no results: name the folder"):
            do(sweep())
    with pytest.raises(UserError, match=r"^nowhere keeps no results\.$"):
        packing.unpack(sweep(kept="nowhere"))
    assert kept_results.made_of_kept(sweep()) == kept_results.made_of_kept(sweep(kept="nowhere"))


@pytest.mark.parametrize("content", [b"nothing", lzma.compress(b"another"), lzma.compress(bytes(10**8)), None, b""])
def test_a_damaged_dataset_is_refused(packed, content):
    file = PLACE / "risk.nc.xz"
    file.write_bytes(file.read_bytes()[:-20] if content is None else content)
    with pytest.raises(UserError, match=r"risk\.nc\.xz"):
        packing.unpack(sweep())
    assert not Path("results").exists()


RECORDS = ["not json", "[1, 2]", '"x"', "null", "3", '{"results/tiny/risk.nc": 3}', '{"results/tiny/risk.nc": null}',
           "[" * 200_000, '{"results/tiny/risk.nc": {}}', "\xff"]  # fmt: skip


@pytest.mark.parametrize("content", [b"nothing", lzma.compress(b"{}")[:-9]], ids=["other", "cut"])
def test_damage_is_said_once(packed, content):
    (PLACE / reading.RECORDS).write_bytes(content)
    with pytest.raises(UserError) as told:
        packing.unpack(sweep())
    assert str(told.value).count("is damaged") == 1
    assert not str(told.value).endswith("..")


@pytest.mark.parametrize("text", RECORDS, ids=lambda text: text[:12])
def test_damaged_records_are_refused(packed, text):
    (PLACE / reading.RECORDS).write_bytes(lzma.compress(text.encode("latin-1")))
    with pytest.raises(UserError, match=r"records\.json\.xz is damaged"):
        packing.unpack(sweep())
    assert not Path("results").exists()


CHANGES = {
    "elsewhere": lambda found: found.update({"results/tiny/../../x.nc": found[DATASETS[0]]}),
    "another": lambda found: found.update({DATASETS[0]: found[DATASETS[1]]}),
    "no shard": lambda found: found.pop(EXACT),
    "other shard": lambda found: found[EXACT]["outputs"][EXACT].update(sha256="0" * 64),
    "no UTF-8": lambda found: found[EXACT].update(command=["\ud800"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_records_that_do_not_belong_together_are_refused(packed, change):
    file = PLACE / reading.RECORDS
    found = json.loads(lzma.decompress(file.read_bytes()))
    CHANGES[change](found)
    file.write_bytes(lzma.compress(json.dumps(found).encode()))
    with pytest.raises(UserError, match=r"records\.json\.xz is damaged"):
        packing.unpack(sweep())
    assert not Path("results").exists()


def test_the_command_packs_and_unpacks_and_says_what_is_missing(keeping):
    said = keeping.run_python("scripts/kept.py", "pack")
    assert (said.returncode, said.stdout) == (0, "Experiments that resources/kept/tiny keeps: 1.\n")
    shutil.rmtree("results")
    said = keeping.run_python("scripts/kept.py", "unpack")
    assert "Of resources/kept/tiny, datasets in results: 2" in said.stdout
    shutil.rmtree("results")
    said = keeping.run_python("scripts/kept.py", "pack")
    assert said.stdout.startswith("tiny: left out, results/tiny/risk.nc.json is missing")
    assert said.returncode == 1
    shutil.rmtree(FOLDER)
    said = keeping.run_python("scripts/kept.py", "unpack")
    assert (said.returncode, said.stderr) == (1, "kept: resources/kept/tiny keeps no results.\n")
