"""The committed schema and pages are what the code gives now: `make schema` changes nothing."""

from pathlib import Path

import pytest

from carryover.config import configuration, documentation

ROOT = Path(__file__).resolve().parents[2]
CONFIG, DOCS = ROOT / "config", ROOT / "docs"


@pytest.fixture(scope="module")
def schema():
    return configuration.schema()


def test_the_committed_schema_is_up_to_date(schema):
    assert (CONFIG / "schema.yaml").read_text() == documentation.schema_text(schema), "run `make schema`"


def test_the_committed_pages_are_up_to_date(schema):
    folders = ("families", "parameters")
    committed = {f"{folder}/{page.name}": page.read_text() for folder in folders for page in (DOCS / folder).iterdir()}
    assert committed == documentation.pages(schema), "run `make schema`, and delete pages of what is no more"
