"""Version, date and papers are the same wherever they stand."""

import importlib
import re
import tomllib
from pathlib import Path

import pytest
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
