"""What the files of the chosen papers hold is laid under the configuration, and a mistake in one is said of it."""

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
        "claims": {"exact_limit": {"data": {"coefficients": "sum/risk"}, "elsewhere": {"products": ["one", "two"]}}},
    },
    "products": {"paper": {"name": "Products", "title": "On products"}},
    "products/few": {
        "heading": "Few",
        "experiments": {"product": RISK},
        "curves": {"relu_penalty": {"points": 5}},
        "figures": {"both": {"plot": "facets", "data": {"risk": "product/risk"}},
                    "relu_penalty": {"data": {"curve": "theory/relu_penalty"}}},
    },
    "products/many": {"experiments": {"more": RISK}},
    "across": {
        "paper": {"name": "Ours", "title": "Of both"},
        "figures": {"two": {"plot": "atlas", "data": {"a": "sum/risk", "b": "product/risk"}}},
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


def made(config):
    """Everything that a configuration has, by section."""
    return {section: set(config[section]) for section in papers.SECTIONS if config.get(section)}


def test_every_entry_says_where_it_stands_and_every_paper_what_it_is(write):
    config = papers.resolved({"papers": ["products", "sums", "across"]}, write())
    assert list(config["experiments"]) == ["product", "more", "sum"]
    assert config["experiments"]["product"] == {**RISK, "paper": "products/few"}
    assert config["figures"]["two"]["paper"] == "across"
    assert config["curves"] == FILES["products/few"]["curves"]
    assert config["papers"]["products/few"] == {"name": "Products", "title": "On products", "heading": "Few"}
    assert config["papers"]["sums"] == FILES["sums"]["paper"]
    configuration.validate(config)
    assert papers.resolved(config, write()) is config


@pytest.mark.parametrize(("chosen", "expected"), [
    (["sums"], {"experiments": {"sum"}, "claims": {"exact_limit"}}),
    ("sums", {"experiments": {"sum"}, "claims": {"exact_limit"}}),
    (["products"], {"experiments": {"product", "more"}, "curves": {"relu_penalty"},
                    "figures": {"both", "relu_penalty"}}),
    (["products/many"], {"experiments": {"more"}}),
    (["across"], {}),
    (["across", "sums"], {"experiments": {"sum"}, "claims": {"exact_limit"}}),
    ([], {}),
])  # fmt: skip
def test_only_what_the_chosen_papers_hold_is_made(write, chosen, expected):
    overlay = {
        "experiments": {name: {"seeds": 3} for name in ("sum", "product", "more")},
        "curves": {"relu_penalty": {"points": 7}},
        "figures": {"two": {"caption": "Two."}, "own": {"paper": "products/few", "data": {"risk": "x/risk"}}},
    }
    config = papers.resolved(overlay | {"papers": chosen}, write())
    found = made(config)
    if "product" in found.get("experiments", ()):
        found["figures"].remove("own")
    assert found == expected
    assert all(one["seeds"] == 3 for one in config["experiments"].values())


@pytest.mark.parametrize(("chosen", "left"), [(["across", "sums", "products"], {"two", "map", "again"}),
                                              (["across", "products"], set())])  # fmt: skip
def test_what_is_made_of_what_is_left_out_is_left_out_too(write, chosen, left):
    """A comparison of a paper that does not run, and figures and claims made of that comparison."""

    def change(files):
        files["across"]["comparisons"] = {"map": {"compare": "atlas", "data": {"risk": "sum/risk"}}}
        files["across"]["claims"] = {"again": {"check": "atlas", "data": {"map": "comparisons/map"}}}
        files["across"]["figures"]["map"] = {"plot": "claims", "data": {"claims": "claims/again"}}

    found = made(papers.resolved({"papers": chosen}, write(change)))
    own = {*found.get("comparisons", ()), *found.get("claims", ()), *found.get("figures", ())}
    assert own - {"exact_limit", "both", "relu_penalty"} == left


def test_what_is_laid_over_a_paper_wins_and_what_is_no_papers_stays(write):
    over = {"experiments": {"sum": {"finetune": {"samples": [4]}}, "mine": RISK}, "pathvars": {"results": "here"}}
    config = papers.resolved(over | {"papers": ["sums"]}, write())
    assert config["experiments"]["sum"]["finetune"] == {"protocol": "single_task", "samples": [4]}
    assert config["experiments"]["mine"] == RISK
    assert config["pathvars"] == {"results": "here"}


def test_the_first_figures_are_those_of_the_papers_that_run(write):
    def first(*chosen):
        told = {"products": "both", "across": "two"}
        folder = write(lambda files: [files[paper]["paper"].update(first=name) for paper, name in told.items()])
        return Sweep(papers.resolved({"papers": list(chosen)}, folder), ROOT).first()

    both, two = "results/figures/both.png", "results/figures/two.png"
    assert set(first("products", "sums", "across")) == {both, two}
    assert first("products", "sums") == first("products") == [both]
    assert first("products/many") == first("sums") == []


def rename(files):
    files["products/few"]["experiments"]["sum"] = RISK


REFUSED = {
    "unknown section": (lambda files: files["sums"].update(experimets={}), "config/papers/sums.yaml: unknown key expe"),
    "what is no paper's": (
        lambda files: files["products/few"].update(pathvars={}),
        "config/papers/products/few.yaml: unknown key pathvars",
    ),
    "unknown key": (
        lambda files: files["products/few"]["experiments"]["product"].update(sedes=1),
        "configuration: experiments.product: unknown key sedes",
    ),
    "no title": (lambda files: files["sums"]["paper"].pop("title"), "configuration: papers.sums.title: Field required"),
    "no first figure": (
        lambda files: files["products"]["paper"].update(first="botch"),
        "config/papers/products.yaml: paper.first: there is no figure botch",
    ),
    "a part of nothing": (
        lambda files: files.pop("products"),
        "config/papers/products/few.yaml: it is a ",
    ),
    "no sections": (lambda files: files.update(sums=[1]), "config/papers/sums.yaml: it must hold sections of keys"),
    "one experiment of two papers": (
        rename,
        "config/papers/products/few.yaml and config/papers/sums.yaml both define experiments.sum; let one ",
    ),
}


@pytest.mark.parametrize(("change", "sentence"), REFUSED.values(), ids=list(REFUSED))
def test_a_mistake_in_a_papers_file_is_one_sentence(write, change, sentence):
    with pytest.raises(UserError) as error:
        configuration.validate(papers.resolved({"papers": ["products", "sums"]}, write(change)))
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(("config", "sentence"), [
    ({"papers": ["some"]}, "papers: there is no config/papers/some.yaml; the papers there are: across, products, "
     "products/few, products/many, sums."),
    ({"papers": 5}, "papers: there is no config/papers/5.yaml; "),
    ({"papers": ["sums"], "figures": {"own": {"paper": "few"}}}, "figures.own.paper: there is no config/papers/few"),
    ({"papers": [["sums"]]}, "papers: there is no config/papers/['sums'].yaml; "),
])  # fmt: skip
def test_a_paper_that_is_not_there_is_one_sentence_with_those_that_are(write, config, sentence):
    with pytest.raises(UserError, match="^" + re.escape(sentence)):
        papers.resolved(config, write())
