"""`snakemake crate` exports all that the workflow makes."""

import json
import zipfile

import pytest

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]


def test_the_crate_has_every_result_and_one_action_per_job(project):
    project.make("crate")
    results = set(project.results())
    with zipfile.ZipFile(project.folder / "results/crate.zip") as archive:
        names = set(archive.namelist())
        graph = json.loads(archive.read("ro-crate-metadata.json"))["@graph"]
    assert results | {f"{path}.json" for path in results} <= names
    made = {path for path in results if not path.endswith((".svg", ".pdf"))}  # these come with their PNG
    assert sum(entity["@type"] == "CreateAction" for entity in graph) == len(made) + 1
    assert project.would_run("crate") == {}
