"""A report has every figure, table and claim, with what is said of them, and needs nothing outside its file."""

import base64
import copy
import html
import io
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from carryover.provenance import store
from carryover.report import claims_page, page
from toy import small_results
from toy.small_results import CAPTION, CONFIG, TITLE

VOID = {"meta", "img"}


class Page(HTMLParser):
    """Elements of a page: [tag, attributes, whole text]."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append([tag, dict(attrs), ""])
        if tag not in VOID:
            self.open.append(self.elements[-1])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        for one in self.open:
            one[2] += data

    def text(self, name):
        """The text of the element of that id, in single spaces."""
        return next(" ".join(text.split()) for _, attributes, text in self.elements if attributes.get("id") == name)

    def all(self, *tags):
        return [one for one in self.elements if one[0] in tags]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with the results of a toy run, as the working folder. Nobody changes it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("report"))
        small_results.run()
        yield Path.cwd()


@pytest.fixture(scope="module")
def shown(results):
    return Page(page.page(CONFIG, "results", "a <note>"))


def test_promise_a_report_needs_no_other_file_and_its_links_lead_somewhere(shown):
    names = [attributes["id"] for _, attributes, _ in shown.elements if "id" in attributes]
    links = {attributes["href"] for _, attributes, _ in shown.elements if "href" in attributes}
    assert len(names) == len(set(names))
    assert links <= {f"#{name}" for name in names}
    assert len(links) > len(CONFIG["figures"])
    images = {attributes["alt"]: attributes for _, attributes, _ in shown.all("img")}
    for title, file, width in (("own", "own.png", "950"), (TITLE, "risk.png", "20")):
        head, _, body = images[title]["src"].partition(",")
        assert head == "data:image/png;base64"
        with Image.open(f"results/figures/{file}") as drawn:
            assert Image.open(io.BytesIO(base64.b64decode(body))).size == drawn.size
        assert images[title]["width"] == width


def test_figures_and_tables_stand_by_paper_with_their_captions(shown):
    assert [text for *_, text in shown.all("h2", "h3", "h4")] == [
        "Implicit penalty", "Implicit penalty", "relu penalty",
        "Feature reuse", "ReLU networks", TITLE, "Claims (fails: 1, undecided: 1, holds: 2)",
        "Carryover", "Figures of your own", "own", "Tables", "ntk bound",
    ]  # fmt: skip
    assert CAPTION in shown.text("figure-risk")
    assert any("A. <B>, Of features, NeurIPS, 2024, arXiv:1234.56789" in text for *_, text in shown.all("p"))
    assert [text for *_, text in shown.all("td")][-4:] == ["a | b", "0.1", "<c>", ""]


def test_a_figure_has_the_claims_of_its_title_and_those_on_its_data(shown):
    assert "The title is supported by: holds: up is above 0 fails: down is above 0" in shown.text("figure-risk")
    assert "large is above" not in shown.text("figure-risk")
    assert "Claims on the same data (2)" in shown.text("figure-own")
    assert "is above 0" not in shown.text("figure-relu_penalty")
    text = shown.text("shared/down")
    assert re.search(r"^fails down is above 0.*measured ?number.*Student's t over seeds \(3\)", text)


def test_names_titles_and_captions_stay_text(results):
    config, hostile = copy.deepcopy(CONFIG), '"><script>alert("1")</script>'
    config["papers"]["reuse/relu"] |= {"name": hostile, "heading": hostile, "overview": hostile}
    config["figures"]["risk"]["caption"] = hostile
    text = page.page(config, "results", hostile)
    assert "<script" not in text
    assert text.count(html.escape(hostile).replace("&quot;", "&#34;")) >= 5


def test_results_that_were_moved_are_shown_and_what_is_not_there_is_named(results, tmp_path):
    shutil.copytree("results", tmp_path / "moved")
    (tmp_path / "moved/figures/own.png").unlink()
    config = copy.deepcopy(CONFIG)
    config["figures"]["risk"]["supported_by"] = ["shared/three"]
    moved = Page(page.page(config, tmp_path / "moved"))
    assert "Seeds3, from 0 to 2" in moved.text("figure-risk")
    assert "Not tested here: shared/three." in moved.text("figure-risk")
    assert any("Not drawn here: own." in text for _, _, text in moved.all("p"))


def test_claims_can_be_read_in_a_terminal_and_stay_text_on_the_page(results):
    table = store.load("results/claims.nc")
    table["statement"] = table["statement"].str.cat(" | <b>")
    papers = claims_page.by_paper(table)
    lines = claims_page.markdown(papers).splitlines()
    assert max(map(len, lines)) <= claims_page.WIDTH
    verdicts = [line.split()[1].rstrip(":") for line in lines if line.startswith("  - ")]
    assert sorted(verdicts) == sorted(table["verdict"].values.tolist())
    assert "| &lt;b&gt;" in claims_page.page(papers)
