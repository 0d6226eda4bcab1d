"""The shipped configurations are valid and make jobs; a mistake is one sentence with the key and what is allowed."""

import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import jsonschema
import pytest
import yaml
from snakemake.utils import update_config

from carryover.config import configuration, papers
from carryover.config.plugins import model_of
from carryover.errors import UserError
from carryover.workflow.sweep import Sweep

ROOT = Path(__file__).resolve().parents[2]
SCALES = [[], ["paper.yaml"], ["images.yaml"], ["fashion.yaml"]]
TOY = {
    "experiments": {
        "toy": {
            "family": "diagonal",
            "seeds": 2,
            "pretrain": {"samples": 64},
            "finetune": {"samples": [4, 8], "grids": {"one": {"protocol": "single_task"}}},
            "measures": {"risk": {}, "sparsity": {"largest_k": 5}},
        }
    },
    "curves": {"relu_penalty": {"points": 11}},
    "claims": {"relu_richness": {"data": {"risk": "toy/risk"}}},
    "figures": {
        "toy_risk": {"plot": "facets", "data": {"risk": "toy/risk"}, "options": {"floor": 1e-8}},
        "relu_penalty": {"data": {"curve": "theory/relu_penalty"}, "options": {"quantity": "exponent"}},
    },
}


def config(*layers):
    merged = {}
    for layer in layers:
        update_config(merged, yaml.safe_load((ROOT / "config" / layer).read_text()))
    return papers.merge_papers(merged, ROOT / "config/papers")


def changed(path, value):
    """TOY with one key set."""
    made = deepcopy(TOY)
    *sections, key = path.split("/")
    node = made
    for section in sections:
        node = node.setdefault(section, {})
    node[key] = value
    return made


@pytest.mark.parametrize("overlays", [*SCALES, ["pretrained.yaml"]])
def test_the_configurations_that_come_with_the_project_are_valid_and_make_jobs(overlays):
    made = config("config.yaml", *overlays)
    sweep = Sweep(made | {"archive": None}, ROOT)
    assert len(sweep.jobs) > 50
    sweep.check()
    jsonschema.Draft202012Validator(configuration.schema()).validate(made)  # as an editor does


@pytest.mark.parametrize("overlays", SCALES)
def test_figures_and_claims_ask_for_numbers_of_samples_that_there_are(overlays):
    made = config("config.yaml", *overlays)
    asking = [entry for section in ("figures", "claims") for entry in made[section].values()]
    asking = [entry for entry in asking if isinstance(entry.get("options", {}).get("samples"), int)]
    assert asking
    for entry in asking:
        names = {ref.partition("/")[0] for ref in entry["data"].values()} & made["experiments"].keys()
        there = [numbers_of_samples(made["experiments"][name]["finetune"]) for name in names]
        assert any(entry["options"]["samples"] in numbers for numbers in there), entry


def numbers_of_samples(finetune):
    parts = [finetune, *finetune.get("grids", {}).values()]
    found = [part["samples"] for part in parts if "samples" in part]
    return {number for value in found for number in (value if isinstance(value, list) else [value])}


@pytest.mark.parametrize("overlays", [[], ["paper.yaml"]])
def test_maps_of_the_atlas_have_as_many_parameters_of_the_target_as_their_tasks(overlays):
    made = config("config.yaml", *overlays)
    maps = {name: entry for name, entry in made["comparisons"].items() if name.startswith("atlas_")}
    for name, entry in maps.items():
        experiment = made["experiments"][entry["data"]["risk"].partition("/")[0]]
        task = dict(model_of(f"families.{experiment['family']}", "task")(**experiment.get("task", {})))
        expected = {
            "diagonal": 1, "deep_linear": task.get("dimension"), "relu": task.get("dimension"),
            "mean_field": task.get("dimension", 0) * task.get("teacher_units", 0),
            "wide_relu": task.get("dimension"), "image_pairs": 784 if task.get("images") == "mnist" else 64,
        }[experiment["family"]]  # fmt: skip
        assert entry["options"].get("parameters", 1) == expected, name


def test_every_key_of_the_readmes_examples_is_accepted():
    _, *blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "config/README.md").read_text(), re.DOTALL)
    shown = {}
    for block in blocks:
        update_config(shown, yaml.safe_load(block))
    assert {"experiments", "curves", "figures"} <= set(shown)
    assert Sweep(shown, ROOT).jobs


# path, value, the sentence after "configuration: "
REFUSED = [
    ("extra", 1, "unknown key extra; allowed here: pathvars, papers, archive, other_claims, "),
    ("experiments/toy/seed", 1, "experiments.toy: unknown key seed; allowed here: family, seeds, "),
    ("papers", {"a": {"name": "a", "title": "a", "items": [{"itm": 1}]}}, "papers.a.items: unknown key itm; allowed"),
    ("experiments/toy/measures/risks", {}, "experiments.toy.measures.risks: there is no risks; there are: bounds, "),
    ("experiments/toy/seeds", 10**9, "experiments.toy.seeds: Input should be less than or equal to 10000, "),
    ("experiments/figures", TOY["experiments"]["toy"], "experiments.figures.[key]: figures is the name of another "),
    ("figures/toy_risk/options/rows", "T", "figures.toy_risk.options: unknown key rows; allowed here: "),
    ("claims/relu_richness/data", {"rsk": "toy/risk"}, "claims.relu_richness.data: risk is missing."),
    ("claims/relu_richness/data/norm", "toy/risk", "claims.relu_richness.data: there is no norm; there are: risk, "),
    *(("pathvars", {"results": name}, "pathvars.results: ")
      for name in ("x;touch y", "..", "x\n", "/etc", "scripts")),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentence"), REFUSED)
def test_a_mistake_is_one_sentence_with_the_key(path, value, sentence):
    with pytest.raises(UserError) as refused:
        _ = Sweep(changed(path, value), ROOT).jobs
    assert str(refused.value).startswith(f"configuration: {sentence}")
    assert "\n" not in str(refused.value).replace("x\n", "")


@pytest.mark.parametrize(
    ("own", "sentence"),
    [
        ({"figures": "toy"}, "figures must hold sections by name."),
        ({"experiments": {"more": 3}}, "experiments.more: Input should be a valid dictionary"),
        ({"tables": {"more": {"data": {"risk": None}}}}, "tables.more.data.risk: Input should be a valid string"),
        ({"figures": {"x": {"data": {"y": "a/b"}, "supported_by": [3]}}}, "figures.x.supported_by: Input should be a"),
    ],
)
def test_a_mistake_is_one_sentence_where_the_papers_are_left_out(own, sentence):
    with pytest.raises(UserError, match=f"^configuration: {re.escape(sentence)}"):
        _ = Sweep({"papers": [], **own}, ROOT).jobs


def test_the_snakefile_is_parsed_without_the_numerical_libraries():
    """As every job on a cluster does: they take seconds to load, and conda's Snakemake may lack them."""
    blocked = "import sys; sys.modules.update(dict.fromkeys(['numpy', 'torch', 'xarray', 'scipy', 'matplotlib'])); "
    code = "sys.path.insert(0, 'scripts'); from carryover.workflow import startup; from carryover.config import files; "
    code += "made = startup.Sweep(files.read('config/config.yaml'), '.'); made.check(); print(len(made.jobs))"
    done = subprocess.run([sys.executable, "-c", blocked + code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert int(done.stdout) > 200, done.stderr
