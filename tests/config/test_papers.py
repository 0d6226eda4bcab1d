"""The files of the chosen papers are merged into the configuration; a mistake in one is reported with its file."""

import json
import re
from pathlib import Path

import pytest
import yaml

from carryover.config import configuration, papers
from carryover.errors import UserError
from carryover.workflow.sweep import Sweep

ROOT = Path(__file__).resolve().parents[2]
RISK = {"family": "diagonal", "seeds": 2, "finetune": {"protocol": "single_task"}, "measures": {"risk": {}}}
FILES = {
    "sums": {
        "paper": {"name": "Sums", "title": "On sums", "year": 2021},
        "experiments": {"sum": RISK},
        "claims": {"exact_limit": {"data": {"coefficients": "sum/risk"}}},
    },
    "products": {"paper": {"name": "Products", "title": "On products", "first": "both"}},
    "products/few": {
        "heading": "Few",
        "experiments": {"product": RISK},
        "curves": {"relu_penalty": {"points": 5}},
        "figures": {"both": {"plot": "facets", "data": {"risk": "product/risk"}},
                    "relu_penalty": {"data": {"curve": "theory/relu_penalty"}}},
    },
    "products/many": {"experiments": {"more": RISK}},
    "across": {
        "paper": {"name": "Ours", "title": "Of both", "first": "two"},
        "comparisons": {"map": {"compare": "atlas", "data": {"risk": "sum/risk"}}},
        "claims": {"again": {"check": "atlas", "data": {"map": "comparisons/map"}}},
        "figures": {"two": {"plot": "atlas", "data": {"a": "sum/risk", "b": "product/risk"}},
                    "map": {"plot": "atlas", "data": {"claims": "claims/again"}},
                    "all": {"plot": "atlas", "data": {"claims": "claims"}}},
    },
}  # fmt: skip


@pytest.fixture
def write(tmp_path):
    """Writes the files, changed by a function of their contents, and gives their folder."""

    def write(change=lambda files: None):
        files = json.loads(json.dumps(FILES))
        change(files)
        folder = tmp_path / "config/papers"
        for name, content in files.items():
            file = folder / f"{name}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(yaml.safe_dump(content))
        return folder

    return write


def sections(config):
    """Everything that a configuration has, by section."""
    return {section: set(config[section]) for section in papers.SECTIONS if config.get(section)}


def test_every_entry_names_its_file_and_every_paper_its_title(write):
    config = papers.merge_papers({"papers": ["products", "sums", "across"]}, write())
    assert list(config["experiments"]) == ["product", "more", "sum"]
    assert config["experiments"]["product"] == {**RISK, "paper": "products/few"}
    assert config["figures"]["two"]["paper"] == "across"
    assert config["papers"]["products/few"]["heading"] == "Few"
    configuration.validate(config)


@pytest.mark.parametrize(("chosen", "expected"), [
    ("sums", {"experiments": {"sum"}, "claims": {"exact_limit"}}),
    (["products/many"], {"experiments": {"more"}}),
    # what needs data of a paper that does not run is left out, and so is what is made of that
    (["across", "products/many"], {"experiments": {"more"}, "figures": {"all"}}),
    (["across", "sums"], {"experiments": {"sum"}, "claims": {"exact_limit", "again"}, "comparisons": {"map"},
                          "figures": {"map", "all"}}),
    ([], {}),
])  # fmt: skip
def test_only_what_the_chosen_papers_hold_is_made(write, chosen, expected):
    overlay = {"experiments": {name: {"seeds": 3} for name in ("sum", "product", "more")}}
    config = papers.merge_papers(overlay | {"papers": chosen}, write())
    assert sections(config) == expected
    assert all(experiment["seeds"] == 3 for experiment in config.get("experiments", {}).values())


def test_own_entries_of_the_names_of_papers_that_do_not_run_stay(write):
    own = {"experiments": {"product": RISK | {"seeds": 5}}, "curves": {"relu_penalty": {"points": 7}},
           "claims": {"mine": {"check": "relu_penalty", "data": {"curve": "theory/relu_penalty"}}}}  # fmt: skip
    config = papers.merge_papers(own | {"papers": []}, write())
    assert sections(config) == {"experiments": {"product"}, "curves": {"relu_penalty"}, "claims": {"mine"}}
    assert config["experiments"]["product"] == own["experiments"]["product"]


def test_an_overlay_wins_over_a_paper_and_adds_to_it(write):
    over = {"experiments": {"sum": {"finetune": {"samples": [4]}}, "mine": RISK}, "pathvars": {"results": "here"}}
    config = papers.merge_papers(over | {"papers": ["sums"]}, write())
    assert config["experiments"]["sum"]["finetune"] == {"protocol": "single_task", "samples": [4]}
    assert config["experiments"]["mine"] == RISK
    assert config["pathvars"] == {"results": "here"}


def test_the_first_figures_are_those_of_the_papers_that_run(write):
    def first(*chosen):
        return set(Sweep(papers.merge_papers({"papers": list(chosen)}, write()), ROOT).first())

    both, two = "results/figures/both.png", "results/figures/two.png"
    assert first("products", "sums", "across") == {both, two}
    assert first("products") == {both}
    assert first("products/many") == first("sums") == set()


REFUSED = {
    "unknown paper": (
        lambda files: files.pop("sums"),
        "papers: there is no config/papers/sums.yaml; the papers there are: ",
    ),
    "unknown section": (lambda files: files["sums"].update(experimets={}), "config/papers/sums.yaml: unknown key expe"),
    "no first figure": (
        lambda files: files["products"]["paper"].update(first="botch"),
        "config/papers/products.yaml: paper.first: there is no figure botch",
    ),
    "a part of nothing": (lambda files: files.pop("products"), "config/papers/products/few.yaml: it is a "),
    "one experiment of two papers": (
        lambda files: files["products/few"]["experiments"].update(sum=RISK),
        "config/papers/products/few.yaml and config/papers/sums.yaml both define experiments.sum; let one ",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_a_mistake_in_a_papers_file_is_one_sentence(write, change, sentence):
    with pytest.raises(UserError, match="^" + re.escape(sentence)):
        configuration.validate(papers.merge_papers({"papers": ["products", "sums"]}, write(change)))
