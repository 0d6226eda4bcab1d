"""What results hang on: a digest over all that is asked for upstream, and files from outside that are read there."""

import copy

import pytest
import yaml

from carryover.workflow.sweep import Sweep
from carryover.workflow.upstream import Upstream
from toy.small_project import EXACT, ROOT, TINY

SCHEMA = yaml.safe_load((ROOT / "config/schema.yaml").read_text())
FIGURE, RISK = "results/figures/tiny_risk.png", "results/tiny/risk.nc"


def upstream(change=lambda tiny: None, **sections):
    config = copy.deepcopy(TINY) | sections
    change(config["experiments"]["tiny"])
    return Upstream(Sweep(config, SCHEMA, ROOT / "scripts"))


def digests(made):
    """{result: digest of what its job is told of what is upstream of it}."""
    return {path: made.asked(rule)(wildcards) for path, (rule, wildcards) in made.jobs.items()}


def changed(change):
    before, after = digests(upstream()), digests(upstream(change))
    assert before.keys() == after.keys()
    return {path for path in before if before[path] != after[path]}


def test_a_change_of_pretraining_reaches_what_starts_from_it():
    def change(tiny):
        tiny["pretrain"]["samples"] = 17

    measured = EXACT.replace("finetune/", "measure/sparsity/")
    assert changed(change) == {EXACT, measured, RISK, "results/tiny/sparsity.nc", FIGURE}


def test_code_counts_as_well(monkeypatch):
    before = digests(upstream())
    monkeypatch.setattr(Sweep, "code", lambda sweep, rule: lambda wildcards: f"new {rule}" * (rule == "pretrain"))
    after = digests(upstream())
    assert before[EXACT] != after[EXACT]
    assert before[FIGURE] != after[FIGURE]


@pytest.fixture
def images(tmp_path):
    (tmp_path / "images").mkdir()
    for name in ("a", "b"):
        (tmp_path / "images" / name).touch()
    return tmp_path / "images"


def test_files_from_outside_are_those_of_all_that_is_upstream(images):
    task = {"images": "mnist", "folder": str(images)}
    experiment = {"family": "image_pairs", "seeds": 1, "task": task, "measures": {"risk": {}}, "pretrain": {},
                  "finetune": {"protocol": ["single_task", "finetuning"]}}  # fmt: skip
    figures = {"mine": {"plot": "risk_curves", "data": {"risk": "pairs/risk", "published": "some.csv"}}}
    made = upstream(experiments={"pairs": experiment, "tiny": {**TINY["experiments"]["tiny"]}}, figures=figures)
    files = {path: made.files(rule)(wildcards) for path, (rule, wildcards) in made.jobs.items()}
    both = [str(images / name) for name in ("a", "b")]
    assert {path: found for path, found in files.items() if found} == {
        path: both for path in files if path.startswith("results/pairs/") or path == "results/figures/mine.png"
    }
    assert made.files("report")({}) == [*both, "config/figures.mplstyle", "some.csv"]
