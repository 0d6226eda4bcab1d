"""Version, date and papers are the same wherever they stand."""

import re
import tomllib
from pathlib import Path

import yaml

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
