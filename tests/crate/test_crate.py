"""A crate has every file with its hash, and says of every job what its record says."""

import hashlib
import json
import os
import zipfile
from pathlib import Path

import pytest

from carryover import crate
from carryover.errors import UserError
from carryover.provenance import job_record, trace
from toy import small_run
from toy.small_run import FIGURES, PRETRAINED, RISK, SHARD

OUTSIDE = f"external/{hashlib.sha256(b'labels').hexdigest()[:16]}/labels.idx"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A small project with results, as the working folder."""
    small_run.start(tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    small_run.run()


def exported(*targets, output="crate"):
    """The metadata of a crate, {identifier: entity}, unpacked into a folder."""
    crate.main([*targets, "--output", f"{output}.zip"])
    with zipfile.ZipFile(f"{output}.zip") as packed:
        packed.extractall(output)
    graph = json.loads(Path(output, "ro-crate-metadata.json").read_text())["@graph"]
    return {entity["@id"].replace("%3D", "="): entity for entity in graph}


def ids(value):
    return [one["@id"].replace("%3D", "=") for one in (value if isinstance(value, list) else [value])]


def test_promise_a_crate_describes_every_file_with_its_hash_and_is_valid(here, tmp_path):
    graph = exported("results")
    files = {path.relative_to("crate").as_posix(): path for path in Path("crate").rglob("*") if path.is_file()}
    described = {name: entity["sha256"] for name, entity in graph.items() if "File" in entity["@type"]}
    assert described == {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in files.items()
        if name != "ro-crate-metadata.json"
    }
    results = [PRETRAINED, SHARD, RISK, *FIGURES]
    assert {*results, *(f"{name}.json" for name in results), OUTSIDE, "config/figures.mplstyle"} <= described.keys()
    validator = pytest.importorskip("crate_validator", exc_type=ImportError)
    found = validator.validate(Path("crate"), tmp_path / "cache", validator.models.Severity.RECOMMENDED)
    # It recommends absolute addresses for programs, but the scripts and the Snakefile are files of the crate.
    assert [text for text in found if "id SHOULD be an absolute URI" not in text] == []


def test_every_job_is_an_action_with_what_its_record_says(here):
    graph = exported("results")
    for name in (PRETRAINED, SHARD, RISK):
        record = small_run.record(name)
        action = graph[f"#job/{job_record.record_digest(record)}"]
        assert action["instrument"] == {"@id": f"scripts/{record['rule']}.py"}
        assert ids(action["result"]) == [name]
        first, *values = ids(action["object"])
        assert first == {PRETRAINED: OUTSIDE, SHARD: PRETRAINED, RISK: SHARD}[name]
        described = {graph[one]["name"]: graph[one]["value"] for one in values}
        asked = record["parameters"] | {"seeds": record["seeds"]}
        assert {key: json.loads(text) if isinstance(text, str) else text for key, text in described.items()} == asked
        assert action["startTime"] == record["volatile"]["start"] <= action["endTime"]
    assert ids(graph["#run"]["object"]) == [OUTSIDE, "config/figures.mplstyle"]
    assert ids(graph["#run"]["result"]) == sorted(FIGURES)


def test_a_crate_has_a_record_and_does_not_hold_another(here):
    for _ in range(2):
        crate.main(["results", "--output", "results/crate.zip"])
    with zipfile.ZipFile("results/crate.zip") as packed:
        assert "results/crate.zip" not in packed.namelist()
        assert packed.read(SHARD) == Path(SHARD).read_bytes()
    assert set(job_record.read("results/crate.zip.json")["inputs"]) == {PRETRAINED, SHARD, RISK, *FIGURES}


def test_one_result_brings_what_it_was_made_of_and_no_more(here):
    exported(f"{SHARD}.json", output="part")
    assert set(trace.all_records("part/results")) == {PRETRAINED, SHARD}
    assert Path("part", OUTSIDE).read_text() == "labels"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda: Path(SHARD).write_bytes(b"other"), f"{SHARD} is not what the records say"),
        (lambda: os.remove(RISK), f"{RISK} is missing"),
    ],
)
def test_a_crate_that_would_not_be_true_is_refused(here, change, sentence):
    change()
    before = sorted(Path().iterdir())
    with pytest.raises(UserError, match=sentence):
        crate.main(["results", "--output", "x.zip"])
    assert sorted(Path().iterdir()) == before
