"""`snakemake crate` exports all that the workflow makes."""

import json
import zipfile
from urllib.parse import unquote

import pytest

from carryover.provenance import store
from crate_validator import validate

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def test_the_crate_has_every_result_and_one_action_per_job_and_is_valid(project, tmp_path):
    project.make("crate")
    results = set(project.results())
    crate = tmp_path / "crate"
    with zipfile.ZipFile(project.folder / "results/crate.zip") as archive:
        names = set(archive.namelist())
        archive.extractall(crate)
    graph = json.loads((crate / "ro-crate-metadata.json").read_text())["@graph"]
    assert results | {f"{path}.json" for path in results} <= names
    made = {path for path in results if not path.endswith((".svg", ".pdf"))}  # these come with their PNG
    assert sum(entity["@type"] == "CreateAction" for entity in graph) == len(made) + 1
    hashes = {unquote(entity["@id"]): entity["sha256"] for entity in graph if "sha256" in entity}
    assert hashes == {name: store.sha256(crate / name) for name in names - {"ro-crate-metadata.json"}}
    assert validate(crate, tmp_path / "cache") == []
    assert project.would_run("crate") == {}
