"""The committed schema and pages are what the code gives now: `make schema` changes nothing."""

from pathlib import Path

import jsonschema
import pytest
import yaml

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


def test_the_written_schema_is_the_one_that_was_made(schema):
    assert yaml.safe_load(documentation.schema_text(schema)) == schema
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_section_stands_on_one_page(schema):
    heads = [line for page in documentation.pages(schema).values() for line in page.splitlines() if line[:3] == "## "]
    sections = [
        name
        for name, one in schema["$defs"].items()
        if "." in name
        and not name.startswith("roles.")
        and (one.get("properties") or "families" in one or f"roles.{name}" in schema["$defs"])
    ]
    assert sorted(heads) == sorted(f"## `{name}`" for name in sections)


def test_a_table_says_meaning_range_default_and_condition():
    rate = {"type": "number", "exclusiveMinimum": 0, "description": "step", "default": 0.1, "unit": "s",
            "when": {"solver": ["flow", "descent"]}}  # fmt: skip
    kinds = {"type": "string", "enum": ["a", "b"]}
    axis = {
        "anyOf": [kinds, {"type": "array", "items": kinds}],
        "description": "which",
        "default": "a",
        "several": "jobs",
    }
    made = documentation.tables(
        {"$defs": {"toy.finetune": {"properties": {"rate": rate, "kind": axis}}, "plain": {}}}, "toy"
    )
    assert made.splitlines() == [
        "## `toy.finetune`",
        "",
        "| key | meaning | allowed | default | read where |",
        "|---|---|---|---|---|",
        "| `rate` | step [s] | a number > 0 | `0.1` | solver: flow, descent |",
        "| `kind` | which | one of a, b; several (a job each) | `a` | always |",
    ]


def test_what_stages_share_stands_in_the_task_alone():
    size = {"type": "integer", "description": "size", "default": 1}
    made = documentation.tables(
        {
            "$defs": {
                "toy.task": {"properties": {"size": size}},
                "toy.finetune": {"properties": {"size": size, "own": size}},
            }
        },
        "toy",
    )
    assert made.count("| `size` |") == 1
    assert made.index("toy.task") < made.index("| `size` |") < made.index("toy.finetune") < made.index("| `own` |")
