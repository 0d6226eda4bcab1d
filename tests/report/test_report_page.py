"""A report has every figure, table and claim, with what is said of them, and needs nothing outside its file."""

import base64
import copy
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest

from carryover.errors import UserError
from carryover.provenance.job_record import record_digest
from carryover.report import contents, page
from toy import small_results
from toy.small_results import CAPTION, CONFIG, TITLE

VOID = {"meta", "link", "img", "br", "input", "path", "rect"}


class Page(HTMLParser):
    """Elements of a page: each with its tag, attributes and whole text."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.strays = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = SimpleNamespace(tag=tag, attributes=dict(attrs), text="")
        self.elements.append(found)
        if tag not in VOID:
            self.open.append(found)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(SimpleNamespace(tag=tag, attributes=dict(attrs), text=""))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop().tag != tag:
            self.strays.append(tag)

    def handle_data(self, data):
        for one in self.open:
            one.text += data

    def all(self, *tags):
        return [one for one in self.elements if one.tag in tags]

    def one(self, name):
        return next(one for one in self.elements if one.attributes.get("id") == name)


@pytest.fixture
def shown(results):
    return Page(Path("results/report.html").read_text())


def test_every_link_has_its_target_and_nothing_is_fetched(shown):
    names = {one.attributes.get("id") for one in shown.elements}
    links = [one.attributes["href"] for one in shown.elements if "href" in one.attributes]
    assert all(link[1:] in names for link in links if link.startswith("#"))
    assert {f"#figure-{name}" for name in CONFIG["figures"]} <= set(links)
    files = {link for link in links if not link.startswith(("#", "data:"))}
    assert all(Path("results", file).is_file() for file in files)
    assert {"figures/risk.pdf", "tables/ntk_bound.tex"} <= files
    assert all(one.attributes["src"].startswith("data:image/") for one in shown.elements if "src" in one.attributes)
    assert not re.search(r"url\((?!#)|@import|<script src", Path("results/report.html").read_text())


def test_pictures_are_the_smaller_format_in_the_size_of_the_drawing(shown):
    for name, suffix, size in (("own", "svg", ("950", "250")), ("risk", "png", ("20", "10"))):
        image = shown.all("img")[["overview", "relu_penalty", "risk", "own"].index(name)].attributes
        kind = {"svg": "image/svg+xml", "png": "image/png"}[suffix]
        head, _, body = image["src"].partition(",")
        assert head == f"data:{kind};base64"
        assert base64.b64decode(body) == Path(f"results/figures/{name}.{suffix}").read_bytes()
        assert (image["width"], image["height"]) == size


def test_figures_stand_by_paper_under_their_titles_with_their_captions(shown):
    heads = [one.text for one in shown.all("h2", "h3", "h4") if not re.match("Claims|Tables|Rules|Where", one.text)]
    assert heads == [
        "Overview", "Feature reuse", "Implicit penalty",
        "Figures: Implicit penalty", "Implicit penalty", "Relu penalty",
        "Figures: Feature reuse", "ReLU networks", TITLE,
        "Figures: Carryover", "Figures of your own", "Own",
        "Ntk bound",
    ]  # fmt: skip
    assert CAPTION in shown.one("figure-risk").text
    assert "A. <B>, Of features, NeurIPS, 2024, arXiv:1234.56789" in shown.one("feature-reuse").text
    assert all(one.attributes["alt"] for one in shown.all("img"))


def test_a_figure_has_the_claims_on_its_data_and_no_others(shown):
    assert "Claims on the same data (fails: 1, holds: 1)" in shown.one("figure-risk").text
    assert "claim 1 of shared: fails" in shown.one("figure-risk").text
    assert "of norms" not in shown.one("figure-risk").text
    assert "(undecided: 1, holds: 1)" in shown.one("figure-own").text
    assert "Claims" not in shown.one("figure-relu_penalty").text


def test_a_figure_says_whether_what_its_title_states_is_shown(shown, results):
    text = " ".join(shown.one("figure-risk").text.split())
    assert "The title states: claim 0 of shared: holds" in text
    assert "The title states what is not shown here: claim 1 of shared: fails" in text
    assert "The title states" not in shown.one("figure-own").text
    gathered = small_results.gathered()
    gathered.figures[1].rests_on.append("shared/three")
    with pytest.raises(UserError, match=r"figures\.risk\.rests_on: there is no claim shared/three"):
        page.page(gathered)


def test_where_a_figure_came_from(shown, results):
    records = small_results.gathered().records
    text = re.sub(r"\s+", " ", shown.one("figure-own").text)
    assert "1 collect job, 1 figure job, 1 finetune job, 1 pretrain job" in text
    assert "Seeds0, 1Computing" in text
    assert records["results/figures/own.png"]["request"] in text
    assert record_digest(records["results/figures/own.png"]) in text
    assert "results/toy/norms.nc (" in text
    assert "Seeds0 to 2Computing" in shown.one("figure-risk").text


def test_doubt_about_results_is_on_the_page(results):
    audit = small_results.audited()
    audit.findings["results/x.nc"] = small_results.Finding("results/x.nc", "", "UNRECORDED", "no record <here>")
    text = page.page(contents.gather(CONFIG, audit))
    assert f"Of {len(audit.findings)} results: 1 UNRECORDED, " in text
    assert "no record &lt;here&gt;" in text
    assert "not simply OK" not in Path("results/report.html").read_text()


def test_what_is_missing_is_named(results):
    config = copy.deepcopy(CONFIG)
    config["figures"]["other"] = {"data": {}}
    with pytest.raises(UserError, match=r"results/figures/other\.png is not there, or has no record: run the workflow"):
        small_results.gathered(config)
