"""`snakemake crate` exports all that the workflow makes."""

import zipfile

import pytest

pytestmark = [pytest.mark.extended, pytest.mark.xdist_group("workflow")]


def test_the_crate_has_every_result_and_its_record(project):
    project.make("crate")
    results = set(project.results())
    with zipfile.ZipFile(project.folder / "results/crate.zip") as archive:
        assert results | {f"{path}.json" for path in results} <= set(archive.namelist())
    assert project.would_run("crate") == {}
