"""The reproduction index leaves nothing out, and names nothing that is not there."""

import importlib
from pathlib import Path

import pytest

from carryover.config import papers
from carryover.config.claims import read_claims
from carryover.report import page
from carryover.workflow import startup

ROOT = Path(__file__).resolve().parents[2]
LAYERS = [ROOT / "config/config.yaml", ROOT / "config/paper.yaml"]
CONFIG = papers.merge_papers(startup.configuration(list(map(str, LAYERS))), ROOT / "config/papers")
ITEMS = [item for about in CONFIG["papers"].values() for item in about.get("items", [])]
CLAIMS = {name for claims in read_claims().values() for name in claims}


def named(key):
    return {name for item in ITEMS for name in item.get(key, ())}


def test_every_figure_table_and_claim_is_in_the_index_and_no_other():
    made = {*CONFIG["figures"]}, {*CONFIG["tables"]}, CLAIMS
    assert (named("figures"), named("tables"), named("claims")) == made


@pytest.mark.parametrize("function", sorted(named("functions")))
def test_every_function_of_the_index_is_there(function):
    module, _, name = f"carryover.{function}".rpartition(".")
    assert callable(getattr(importlib.import_module(module), name))


def test_what_is_not_made_or_tested_here_is_left_out():
    about = {"items": [{"item": "Fig. 1", "shows": "x", "figures": ["a", "b"], "claims": ["one", "two"]}]}
    [item] = page.reproduction_items(about, {"figures": {"b": {"data": {"risk": "toy/risk"}}}}, {"two": "holds"})
    assert (item["figures"], item["claims"], item["data"]) == (["b"], ["holds"], ["toy/risk"])
