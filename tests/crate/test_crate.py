"""A crate has every file with its hash, and says of every job what its record says."""

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest

import crate
from carryover.errors import UserError
from carryover.provenance import job_record, record_index
from toy import small_run
from toy.small_run import DATA, FIGURES, PRETRAINED, RISK, SHARD

OUTSIDE = f"external/{hashlib.sha256(b'labels').hexdigest()[:16]}/labels.idx"
RESULTS = [PRETRAINED, SHARD, RISK, *FIGURES]


@pytest.fixture
def here(exported, tmp_path, monkeypatch):
    shutil.copytree(exported.parent, tmp_path / "moved")
    monkeypatch.chdir(tmp_path / "moved/project")


@pytest.fixture
def graph(exported):
    metadata = json.loads((exported / "crate/ro-crate-metadata.json").read_text())
    return {entity["@id"]: entity for entity in metadata["@graph"]}


def ids(value):
    return [one["@id"] for one in (value if isinstance(value, list) else [value])]


def in_crate(name):
    return OUTSIDE if name == DATA else name.replace("=", "%3D")


def test_every_file_is_described_with_its_hash(exported, graph):
    root = exported / "crate"
    files = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    told = {name: entity for name, entity in graph.items() if "File" in entity["@type"]}
    assert {name.replace("%3D", "=") for name in told} | {"ro-crate-metadata.json"} == files
    assert set(ids(graph["./"]["hasPart"])) == set(told)
    for name, entity in told.items():
        content = (root / name.replace("%3D", "=")).read_bytes()
        assert entity["sha256"] == hashlib.sha256(content).hexdigest()
        assert entity["contentSize"] == str(len(content))
    assert {*RESULTS, *(f"{name}.json" for name in RESULTS), OUTSIDE, "config/figures.mplstyle"} <= files


def test_every_job_is_an_action_with_what_its_record_says(exported, graph):
    actions = {tuple(ids(entity["result"])): entity for entity in graph.values() if entity["@type"] == "CreateAction"}
    run = actions.pop(tuple(FIGURES))
    jobs = [json.loads((exported / f"{name}.json").read_text()) for name in (PRETRAINED, SHARD, RISK)]
    assert actions.keys() == {(in_crate(min(record["outputs"])),) for record in jobs}
    for record in jobs:
        action = actions[(in_crate(min(record["outputs"])),)]
        assert action["instrument"] == {"@id": f"scripts/{record['rule']}.py"}
        given = ids(action["object"])
        assert given[0] == in_crate(next(iter(record["inputs"])))
        values = {graph[one]["name"]: graph[one]["value"] for one in given[1:]}
        shown = {"samples": "[1, 2]", "scale": "null"} if record["rule"] == "finetune" else record["parameters"]
        assert values == {**shown, "seeds": "[0, 1]"}
        assert action["startTime"] == record["volatile"]["start"] <= action["endTime"]
        assert graph[in_crate(min(record["outputs"]))]["subjectOf"]["@id"] == in_crate(f"{min(record['outputs'])}.json")
    assert run["instrument"] == {"@id": "Snakefile"}
    assert ids(run["object"]) == [OUTSIDE, "config/figures.mplstyle"]


def test_the_workflow_has_a_step_and_software_for_every_rule(exported, graph):
    workflow = graph["Snakefile"]
    assert graph["./"]["mainEntity"] == {"@id": "Snakefile"}
    tools = {graph[one]["name"]: ids(graph[one]["workExample"]) for one in ids(workflow["step"])}
    assert tools == {rule: [f"scripts/{rule}.py"] for rule in ("collect", "figure", "finetune", "pretrain")}
    assert set(ids(workflow["hasPart"])) == {one for ones in tools.values() for one in ones}
    versions = json.loads((exported / f"{RISK}.json").read_text())["environment"]["versions"]
    software = [graph[one] for one in ids(graph["scripts/collect.py"]["softwareRequirements"])]
    assert {one["name"]: one["version"] for one in software} == versions


def test_equal_results_give_equal_bytes(here):
    for name in ("one.zip", "another.zip"):
        crate.main(["results", "--output", name])
        for file in Path("results").rglob("*.nc"):
            os.utime(file)
    assert Path("one.zip").read_bytes() == Path("another.zip").read_bytes()


def test_a_zip_has_the_files_of_the_folder_and_a_record(here):
    for _ in range(2):  # the second crate does not hold the first
        crate.main(["results", "--output", "results/crate.zip"])
    names = {path.relative_to("crate").as_posix() for path in Path("crate").rglob("*") if path.is_file()}
    with zipfile.ZipFile("results/crate.zip") as archive:
        assert set(archive.namelist()) == names
        assert archive.read(SHARD) == Path(SHARD).read_bytes()
        graph = json.loads(archive.read("ro-crate-metadata.json"))
    assert graph == json.loads(Path("crate/ro-crate-metadata.json").read_text())
    assert set(job_record.read("results/crate.zip.json")["inputs"]) == set(RESULTS)


def test_one_result_brings_what_it_was_made_of_and_no_more(here):
    crate.main([f"{SHARD}.json", "--output", "part"])
    assert set(record_index.all_made("part/results")) == {PRETRAINED, SHARD}
    assert Path("part", OUTSIDE).read_text() == "labels"


def test_archived_datasets_are_no_part_of_it(here):
    Path("resources/archive/other").mkdir(parents=True)
    for name in ("risk.nc.xz", "claims.csv"):
        Path("resources/archive/other", name).write_text("archived")
    crate.main([small_run.RISK, "--output", "with_archive"])
    assert Path("with_archive/resources/archive/other/claims.csv").is_file()
    assert not list(Path("with_archive").rglob("*.xz"))


def altered(path):
    content = Path(path).read_bytes()
    Path(path).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def without(part):
    """The record of the shard loses a part."""
    record = small_run.record(SHARD)
    del record[part]
    Path(f"{SHARD}.json").write_text(job_record.as_text(record))


REFUSALS = {
    "no outputs": (lambda: without("outputs"), f"{SHARD}.json lacks parts of a record, or has odd ones (outputs)"),
    "no times": (lambda: without("volatile"), f"{SHARD}.json lacks parts of a record, or has odd ones (volatile)"),
    "altered": (lambda: altered(SHARD), f"{SHARD} is not what its record says: run again, or ask audit why"),
    "data": (lambda: altered(DATA), f"{DATA} is not what its record says: run again, or ask audit why"),
    "no data": (lambda: os.remove(DATA), f"{DATA} is missing: run the step that makes it"),
    "no record": (lambda: os.remove(f"{SHARD}.json"), f"{SHARD} has no record: delete it and run again, or ask audit"),
    "no result": (lambda: os.remove(RISK), f"{RISK} is missing: run the step that makes it"),
    "stray": (
        lambda: shutil.copy(SHARD, "results/stray.nc"),
        "results/stray.nc has no record: delete it and run again, or ask audit",
    ),
    "code": (
        lambda: Path("scripts/carryover/errors.py").write_text("class UserError(ValueError): code = 3"),
        f"scripts/carryover/errors.py is not the code that made {FIGURES[0]}: run again, or ask audit",
    ),
    "made anew": (
        lambda: Path(RISK).write_bytes(b"other") and Path(f"{RISK}.json").write_text(
            Path(f"{RISK}.json").read_text().replace(small_run.record(RISK)["outputs"][RISK]["sha256"], "0" * 64)
        ),
        f"{RISK} is not what every record says: ask audit why",
    ),
    "elsewhere": (lambda: os.remove("Snakefile"), "there is no Snakefile here: export a crate in the folder of the"),
    "empty": (lambda: shutil.rmtree("results") or Path("results").mkdir(), "results: there is no result with a record"),
    "output": (lambda: Path("x").mkdir(), "--output x: it is there already; remove it, or name another"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sentence"), REFUSALS.values(), ids=REFUSALS)
def test_a_crate_that_would_not_be_true_is_refused(here, change, sentence):
    change()
    before = sorted(Path().iterdir())
    with pytest.raises(UserError) as raised:
        crate.main(["results", "--output", "x"])
    assert str(raised.value).startswith(sentence)
    assert sorted(Path().iterdir()) == before


def test_a_comment_in_the_code_is_no_other_code(here, graph):
    changed = "scripts/carryover/errors.py"
    with Path(changed).open("a") as file:
        file.write("# a comment\n")
    crate.main(["results", "--output", "again"])
    entities = json.loads(Path("again/ro-crate-metadata.json").read_text())["@graph"]
    again = {entity["@id"]: entity for entity in entities}
    assert [name for name in graph if again[name] != graph[name]] == [changed]
    assert again.keys() == graph.keys()
    assert again[changed]["sha256"] == hashlib.sha256(Path("again", changed).read_bytes()).hexdigest()
    assert Path("again", changed).read_text().endswith("# a comment\n")


def test_from_another_folder_nothing_is_said_to_be_deleted(here, monkeypatch, tmp_path):
    there = Path.cwd()
    for name in ("project", "plain"):
        (tmp_path / name).mkdir()
    (tmp_path / "project/Snakefile").touch()

    outside = f"is not in {tmp_path / 'project'}: export a crate in the folder of its own project"
    cases = {
        ("plain", there / "results"): "there is no Snakefile here: export a crate in the folder of the project",
        ("project", there / "results"): f"{there / 'results'} {outside}",
        ("project", there / RISK): f"{there / RISK} {outside}",
        ("project", Path("results")): "results is missing: run the step that makes it",
    }

    for (name, target), sentence in cases.items():
        monkeypatch.chdir(tmp_path / name)
        with pytest.raises(UserError) as raised:
            crate.main([str(target), "--output", "x"])
        assert str(raised.value) == sentence

    monkeypatch.chdir(there)
    os.rename("results/toy/pretrain", "elsewhere")
    with pytest.raises(UserError, match=f"^{PRETRAINED} is missing: run the step that makes it$"):
        crate.main([SHARD, "--output", "x"])


def test_a_crate_among_results_goes_into_no_other(here):
    crate.main(["results", "--output", "results/kept"])
    crate.main(["results", "--output", "again"])
    names = {path.relative_to("again").as_posix() for path in Path("again").rglob("*") if path.is_file()}
    assert names == {path.relative_to("crate").as_posix() for path in Path("crate").rglob("*") if path.is_file()}
