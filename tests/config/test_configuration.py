"""The schema is what the code says and what the pages show; a mistake in a configuration is one sentence."""

import re
from copy import deepcopy
from pathlib import Path

import pytest
import yaml
from snakemake.utils import update_config

from carryover.config import configuration, papers, validation
from carryover.config.validation import ConfigurationError
from carryover.workflow.sweep import MADE_OF_DATA, Sweep

ROOT = Path(__file__).resolve().parents[2]
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
    "figures": {
        "toy_risk": {"plot": "risk_curves", "data": {"risk": "toy/risk"}, "options": {"floor": 1e-8}},
        "relu_penalty": {"data": {"curve": "theory/relu_penalty"}, "options": {"quantity": "exponent"}},
    },
    "diagnoses": {"a": {"data": {"pretrained": "before.npz", "finetuned": "after.nc"}, "options": {"layers": "fc"}}},
}
SPEC = TOY["experiments"]["toy"]
ABSENT = object()


@pytest.fixture(scope="module")
def schema():
    return configuration.schema()


def config(*layers):
    merged = {}
    for layer in layers:
        update_config(merged, yaml.safe_load((ROOT / "config" / layer).read_text()))
    return papers.resolved(merged, ROOT / "config/papers")


def changed(path, value):
    """TOY with one key set, or taken out."""
    made = deepcopy(TOY)
    *sections, key = path.split("/")
    node = made
    for section in sections:
        node = node.setdefault(section, {})
    if value is ABSENT:
        del node[key]
    else:
        node[key] = value
    return made


def refusal(path, value, schema):
    with pytest.raises(ConfigurationError) as error:
        validation.validate(changed(path, value), schema)
    return str(error.value)


@pytest.mark.parametrize("overlays", [[], ["paper.yaml"], ["images.yaml"], ["fashion.yaml"]])
def test_the_configurations_that_come_with_the_project_are_valid_and_make_jobs(schema, overlays):
    made = config("config.yaml", *overlays)
    validation.validate(made, schema)
    sweep = Sweep(made, schema, ROOT / "scripts")
    outputs = [output for *_, output in sweep.jobs()]
    assert len(outputs) == len(set(outputs)) > 50
    made_by_sweep = {*sweep.collected(), *outputs}
    for rule, wildcards, _ in sweep.jobs():
        assert sweep.modules(rule, wildcards)
        if rule in MADE_OF_DATA:
            missing = [f for f in sweep.data(rule)(wildcards) if f not in made_by_sweep and not (ROOT / f).is_file()]
            assert not missing, wildcards


@pytest.mark.parametrize("overlays", [[], ["paper.yaml"], ["images.yaml"], ["fashion.yaml"]])
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


def test_the_small_test_configuration_is_valid(schema):
    assert validation.validate(TOY, schema) is None
    assert validation.validate({}, schema) is None


def test_every_key_of_the_readmes_examples_is_accepted(schema):
    of_a_paper, *blocks = re.findall(r"```yaml\n(.*?)```", (ROOT / "config/README.md").read_text(), re.DOTALL)
    validation.validate(yaml.safe_load(of_a_paper), schema, definition=schema["$defs"]["paper_file"])
    shown = {}
    for block in blocks:
        update_config(shown, yaml.safe_load(block))
    assert {"experiments", "curves", "figures"} <= set(shown)
    validation.validate(shown, schema)
    assert list(Sweep(shown, schema, ROOT / "scripts").jobs())


# {path: value -> the sentence after "configuration: "}
REFUSED = [
    # Unknown keys, at every level.
    ("extra", 1, r"top level: unknown key extra; allowed here: pathvars, papers, archive, claims_beside, .*"),
    ("experiments/toy/seed", 1, r"experiments\.toy: unknown key seed; allowed here: family, seeds, block, .*"),
    ("experiments/toy/resources", {"gpus": 1}, r"experiments\.toy\.resources: unknown key gpus; allowed here: gpu, .*"),
    ("experiments/toy/task", {"dim": 5}, r"experiments\.toy\.task: unknown key dim; allowed here: dimension, .*"),
    ("experiments/toy/pretrain/sample", 5, r"experiments\.toy\.pretrain: unknown key sample; allowed here: .*solver.*"),
    ("experiments/toy/finetune/rate", 5, r"experiments\.toy\.finetune: unknown key rate; allowed here: .*protocol, .*"),
    ("experiments/toy/finetune/dimension", 5, r"experiments\.toy\.finetune: unknown key dimension; .*"),
    (
        "experiments/toy/finetune/grids/one/rate", 5,
        r"experiments\.toy\.finetune\.grids\.one: unknown key rate; allowed here: .*protocol, .*",
    ),
    ("experiments/toy/measures/risks", {}, r"experiments\.toy\.measures: unknown key risks; allowed here: .*risk, .*"),
    ("experiments/toy/measures/risk/k", 5, r"experiments\.toy\.measures\.risk: unknown key k; allowed here: none\."),
    ("curves/relu", {}, r"curves: unknown key relu; allowed here: .*relu_penalty.*"),
    ("curves/relu_penalty/point", 5, r"curves\.relu_penalty: unknown key point; allowed here: correlation, .*"),
    ("figures/toy_risk/title", "T", r"figures\.toy_risk: unknown key title; allowed here: plot, data, options, .*"),
    ("figures/toy_risk/options/row", "T", r"figures\.toy_risk\.options: unknown key row; allowed here: .*rows, .*"),
    ("figures/relu_penalty/options/row", "T", r"figures\.relu_penalty\.options: unknown key row; .* quantity\."),
    ("diagnoses/a/layers", ["b"], r"diagnoses\.a: unknown key layers; allowed here: data, options, paper\."),
    ("diagnoses/a/data/before", "b.npz", r"diagnoses\.a\.data: unknown key before; .*: pretrained, finetuned, .*"),
    ("diagnoses/a/options", {"far": 1.0}, r"diagnoses\.a\.options: unknown key far; allowed here: most, .*layers\."),
    # Types.
    ("experiments", None, r"experiments: None is not allowed; it must be a section of keys and values\."),
    ("experiments/toy/seeds", "six", r"experiments\.toy\.seeds: 'six' is not allowed; it must be a whole number ≥ 1\."),
    ("experiments/toy/seeds", 6.0, r"experiments\.toy\.seeds: 6\.0 is not allowed; it must be a whole number ≥ 1\."),
    ("experiments/toy/seeds", True, r"experiments\.toy\.seeds: True is not allowed; it must be a whole number ≥ 1\."),
    ("experiments/toy/split", "samples", r"experiments\.toy\.split: 'samples' is not allowed; it must be a list\."),
    ("figures/toy_risk/caption", 5, r"figures\.toy_risk\.caption: 5 is not allowed; it must be text\."),
    (
        "experiments/toy/finetune/samples", [4, 8.5],
        r"experiments\.toy\.finetune\.samples: \[4, 8\.5\] is not allowed; "
        r"it must be a whole number ≥ 1, or a list of such without repeats\.",
    ),
    ("diagnoses/a/options", {"layers": [1]}, r"diagnoses\.a\.options\.layers: \[1\] is not allowed; .* text, .*"),
    ("pathvars", {"results": 5}, r"pathvars\.results: 5 is not allowed; it must be a folder's path of .*\."),
    *(
        ("pathvars", {"results": name}, r"pathvars\.results: .* is not allowed; it must be a folder.s path of .*")
        for name in ("x;y", "a b", ".", "..", "~", "x\n", "a" * 251, "-x", "", "a/", "/", "$HOME", "a/../b")
    ),
    ("pathvars", {"logs": "logs"}, r"pathvars: unknown key logs; allowed here: results\."),
    # Ranges and choices.
    ("experiments/toy/seeds", 0, r"experiments\.toy\.seeds: 0 is not allowed; it must be a whole number ≥ 1\."),
    ("experiments/toy/resources", {"gpu": -1}, r"experiments\.toy\.resources\.gpu: -1 is not allowed; .* ≥ 0\."),
    (
        "experiments/toy/pretrain/tolerance", 0,
        r"experiments\.toy\.pretrain\.tolerance: 0 is not allowed; it must be a number > 0\.",
    ),
    (
        "experiments/toy/finetune/overlap", [0.5, 1.5],
        r"experiments\.toy\.finetune\.overlap: \[0\.5, 1\.5\] is not allowed; it must be a number ≥ 0 and ≤ 1, or .*\.",
    ),
    ("experiments/toy/finetune/samples", [4, 4], r"experiments\.toy\.finetune\.samples: \[4, 4\] .* without repeats\."),
    ("experiments/toy/family", "x", r"experiments\.toy\.family: 'x' is not allowed; it must be one of .*diagonal.*\."),
    (
        "experiments/toy/pretrain/solver", "newton",
        r"experiments\.toy\.pretrain\.solver: 'newton' is not allowed; it must be one of exact, flow, descent, or .*\.",
    ),
    (
        "experiments/toy/split", ["sample"],
        r"experiments\.toy\.split\.0: 'sample' is not allowed; it must be one of samples, main_features, .*\.",
    ),
    ("figures/toy_risk/plot", "lines", r"figures\.toy_risk\.plot: 'lines' is not allowed; it must be one of .*\."),
    ("figures/toy_risk/data", {}, r"figures\.toy_risk\.data: \{\} .*; it must be a section with at least one key\."),
    ("diagnoses/a/options", {"most": 0}, r"diagnoses\.a\.options\.most: 0 is not allowed; .* > 0 and ≤ 1\."),
    (
        "diagnoses/a/data/finetuned", "after.pt",
        r"diagnoses\.a\.data\.finetuned: 'after\.pt' is not allowed; "
        r"it must be a file of one of the kinds \.npz, \.npy, \.nc, \.safetensors\.",
    ),
    (
        "diagnoses/a/data/finetuned", "toy/risk",
        r"diagnoses\.a\.data\.finetuned: 'toy/risk' is not allowed; it must be a file of one of the kinds .*\.",
    ),
    # Text where YAML was meant to give a number.
    (
        "experiments/toy/pretrain/tolerance", "1e-3",
        r"experiments\.toy\.pretrain\.tolerance: '1e-3' is not allowed; it must be a number > 0\. "
        r"\(YAML reads 1e-3 as text: write 1\.0e-3\.\)",
    ),
    ("experiments/toy/finetune/rescale", [1.0, "2.5e1"], r".*\(YAML reads 2\.5e1 as text: write 2\.5e\+1\.\)"),
    ("experiments/toy/finetune/rescale", ".5e3", r".*\(YAML reads \.5e3 as text: write 0\.5e\+3\.\)"),
    # What is no number.
    (
        "experiments/toy/finetune/rescale", [1.0, float("nan")],
        r"experiments\.toy\.finetune\.rescale\.1: nan is not a finite number\.",
    ),
    ("curves/relu_penalty/readout", float("inf"), r"curves\.relu_penalty\.readout: inf is not a finite number\."),
    (
        "experiments/toy/finetune/rescale", [1.0, 1e300],
        r"experiments\.toy\.finetune\.rescale\.1: 1e\+300 is too large to compute with: the size of a "
        r"number is at most 1e\+30\.",
    ),
    # Names.
    ("experiments/Toy", SPEC, r"experiments: 'Toy' cannot be a name; allowed are lower-case letters, digits and .*"),
    ("experiments/2nd", SPEC, r"experiments: '2nd' cannot be a name; .*"),
    ("experiments/theory", SPEC, r"experiments: 'theory' cannot be a name; .* none of theory, comparisons, .*"),
    ("figures/a b", TOY["figures"]["toy_risk"], r"figures: 'a b' cannot be a name; .*"),
    # What is missing.
    ("experiments/toy/seeds", ABSENT, r"experiments\.toy: seeds is missing\."),
    ("experiments/toy/family", ABSENT, r"experiments\.toy: family is missing\."),
    ("experiments/toy/finetune", ABSENT, r"experiments\.toy: finetune is missing\."),
    ("figures/toy_risk/data", ABSENT, r"figures\.toy_risk: data is missing\."),
    ("diagnoses/a/data/finetuned", ABSENT, r"diagnoses\.a\.data: finetuned is missing\."),
    ("figures/toy_risk/plot", ABSENT, r"figures\.toy_risk: plot is missing\."),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "sentence"), REFUSED)
def test_a_mistake_is_one_sentence_with_the_key_and_what_is_allowed(schema, path, value, sentence):
    message = refusal(path, value, schema)
    assert "\n" not in message
    assert re.fullmatch("configuration: " + sentence, message), message


def test_a_name_must_be_text(schema):
    made = {"experiments": {2: SPEC}}
    with pytest.raises(ConfigurationError, match=r"^configuration: experiments: 2 cannot be a name; "):
        validation.validate(made, schema)


@pytest.mark.parametrize("text", ["1e-3", "5e3", "-1e-3", "2.e5", "1E+6", ".5e3", "1.0e3"])
def test_the_spelling_that_is_advised_is_that_number(text):
    assert isinstance(yaml.safe_load(text), str), "YAML reads it as a number after all"
    advised = re.search(r"write (.*)\.\)", validation._text_for_number(text))[1]
    assert yaml.safe_load(advised) == float(text)


def test_parameters_that_are_read_elsewhere_get_no_advice_on_numbers():
    assert validation._text_for_number("exact") == ""
    assert validation._text_for_number(5) == ""
