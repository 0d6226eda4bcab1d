"""Version, date and papers are the same wherever they stand."""

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest
import rocrate
import yaml

from carryover.errors import UserError

ROOT = Path(__file__).resolve().parents[1]


def test_package_changelog_and_citation_agree():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = re.findall(r"^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert released[0] == (version, str(citation["date-released"]))
    assert citation["version"] == version
    assert len(set(released)) == len(released)


def test_the_citation_has_every_paper_as_a_reference():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    papers = [yaml.safe_load(file.read_text())["paper"] for file in (ROOT / "config/papers").glob("*.yaml")]
    titles = {paper["title"] for paper in papers if "venue" in paper}
    assert {reference["title"] for reference in citation["references"]} == titles


def test_files_for_machines_are_written_from_what_stands_elsewhere(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    metadata = importlib.import_module("metadata")
    for name, make in metadata.FILES.items():
        assert (ROOT / name).read_text() == make(), f"python tools/metadata.py --write renews {name}"
    with pytest.raises(UserError, match="names the figure none, which the papers' scale does not draw"):
        metadata._drawn({"figures": ["none"]}, {"figures": {}})


def test_the_description_of_the_software_has_terms_of_codemeta_and_schema_org():
    schema = json.loads((Path(rocrate.__file__).parent / "data/schema.jsonld").read_text())["@graph"]
    terms = {one["@id"].rpartition("/")[2].rpartition(":")[2] for one in schema}
    of_codemeta = {"@context", "@type", "referencePublication"}  # codemeta.github.io/terms

    def check(value):
        if isinstance(value, list):
            for one in value:
                check(one)
        elif isinstance(value, dict):
            assert value.keys() <= terms | of_codemeta
            assert value["@type"] in terms
            for one in value.values():
                check(one)

    check(json.loads((ROOT / "codemeta.json").read_text()))


def test_the_workflow_has_what_the_catalogue_of_workflows_asks_for():
    """The rules for standardised usage in its README; its formatting and linting are those of `make lint`."""
    readme = (ROOT / "README.md").read_text().lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (ROOT / "workflow/Snakefile").is_file()
    assert (ROOT / "config/README.md").is_file()
    assert any((ROOT / "rules").glob("*.smk"))
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())["usage"]
    assert usage.keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert usage["mandatory-flags"].keys() == {"desc", "flags"}
    assert usage["software-stack-deployment"]["conda"] is bool((ROOT / "envs").is_dir())
