"""A crate has every file with its hash, and says of every job what its record says."""

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
import xarray as xr

from carryover import crate
from carryover.errors import UserError
from carryover.provenance import job_record, records
from toy.small_project import EXACT, ROOT
from workflow.mutations import FIGURE, PRETRAINED, RISK, SPARSITY, STYLE, THEORY_FIGURE

pytestmark = pytest.mark.xdist_group("audit")

DATA, FROM_OUTSIDE = "../data/labels.idx", "results/tiny/a=1.nc"
OUTSIDE = f"external/{hashlib.sha256(b'labels').hexdigest()[:16]}/labels.idx"


@pytest.fixture
def here(project):
    """A copy of the finished project, as the working folder, with a result of data that lie outside."""
    shutil.copy(ROOT / "README.md", ".")
    Path(DATA).parent.mkdir()
    Path(DATA).write_text("labels")
    asked = {"parameters": {"title": "Größe", "tied": False, "scale": None}, "modules": ["crate"]}
    with job_record.Job(rule="curve", inputs=[DATA], outputs=[FROM_OUTSIDE], **asked) as job:
        job.save(xr.Dataset({"w": ((), 1.0, {"long_name": "made for a test", "units": "1"})}))
    return project


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
    results = here.results()
    assert {*results, *(f"{name}.json" for name in results), OUTSIDE, STYLE} <= described.keys()
    validator = pytest.importorskip("crate_validator", exc_type=ImportError)
    found = validator.validate(Path("crate"), tmp_path / "cache", validator.models.Severity.RECOMMENDED)
    # It recommends absolute addresses for programs, but the scripts and the Snakefile are files of the crate.
    assert [text for text in found if "id SHOULD be an absolute URI" not in text] == []


def test_every_job_is_an_action_with_what_its_record_says(here):
    graph = exported("results")
    for name in (PRETRAINED, EXACT, RISK, FROM_OUTSIDE):
        record = job_record.read(f"{name}.json")
        action = graph[f"#job/{job_record.record_digest(record)}"]
        assert action["instrument"] == {"@id": f"scripts/{record['rule']}.py"}
        assert ids(action["result"]) == [name]
        inputs = [OUTSIDE if one == DATA else one for one in sorted(record["inputs"])]
        objects = ids(action["object"])
        assert objects[: len(inputs)] == inputs
        described = {graph[one]["name"]: graph[one]["value"] for one in objects[len(inputs) :]}
        asked = record["parameters"] | {"seeds": record["seeds"]}
        assert described.keys() == asked.keys()
        assert all(value == asked[key] or json.loads(value) == asked[key] for key, value in described.items())
        assert action["startTime"] == record["volatile"]["start"] <= action["endTime"]
    assert ids(graph["#run"]["object"]) == [OUTSIDE, STYLE]
    assert ids(graph["#run"]["result"]) == sorted([*FIGURE, *THEORY_FIGURE, SPARSITY, FROM_OUTSIDE])


def test_a_crate_has_a_record_and_does_not_hold_another(here):
    for _ in range(2):
        crate.main(["results", "--output", "results/crate.zip"])
    with zipfile.ZipFile("results/crate.zip") as packed:
        assert "results/crate.zip" not in packed.namelist()
        assert packed.read(EXACT) == Path(EXACT).read_bytes()
    assert job_record.read("results/crate.zip.json")["inputs"].keys() == here.results().keys()


def test_one_result_brings_what_it_was_made_of_and_no_more(here):
    exported(f"{EXACT}.json", FROM_OUTSIDE, output="part")
    assert set(records.all_records("part/results")) == {PRETRAINED, EXACT, FROM_OUTSIDE}
    assert Path("part", OUTSIDE).read_text() == "labels"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda: Path(EXACT).write_bytes(b"other"), f"{EXACT} is not what the records say"),
        (lambda: os.remove(RISK), f"{RISK} is missing"),
    ],
)
def test_a_crate_that_would_not_be_true_is_refused(here, change, sentence):
    change()
    before = sorted(Path().iterdir())
    with pytest.raises(UserError, match=sentence):
        crate.main(["results", "--output", "x.zip"])
    assert sorted(Path().iterdir()) == before
