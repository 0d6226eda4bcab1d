"""The committed schema and page are what the code gives now: `make schema` changes nothing."""

from pathlib import Path

import jsonschema
import pytest
import yaml

from carryover.config import configuration, documentation

CONFIG = Path(__file__).resolve().parents[2] / "config"


@pytest.fixture(scope="module")
def schema():
    return configuration.schema()


def test_the_committed_schema_is_up_to_date(schema):
    assert (CONFIG / "schema.yaml").read_text() == documentation.schema_text(schema), "run `make schema`"


def test_the_committed_page_is_up_to_date(schema):
    page = (CONFIG / "README.md").read_text()
    assert page == documentation.fill(page, schema), "run `make schema`"


def test_the_written_schema_is_the_one_that_was_made(schema):
    assert yaml.safe_load(documentation.schema_text(schema)) == schema
    jsonschema.Draft202012Validator.check_schema(schema)


def test_only_what_stands_between_the_marks_is_replaced(schema):
    page = f"before\n{documentation.BEGIN}\nWhat stood here\n{documentation.END}\nafter\n"
    filled = documentation.fill(page, schema)
    assert filled.startswith(f"before\n{documentation.BEGIN}\n\n### ")
    assert filled.endswith(f"|\n\n{documentation.END}\nafter\n")
    assert "What stood here" not in filled
    assert documentation.fill(filled, schema) == filled


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
    made = documentation.tables({"$defs": {"toy.finetune": {"properties": {"rate": rate, "kind": axis}}, "plain": {}}})
    assert made.splitlines() == [
        "### `toy.finetune`",
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
        }
    )
    assert made.count("| `size` |") == 1
    assert made.index("toy.task") < made.index("| `size` |") < made.index("toy.finetune") < made.index("| `own` |")
