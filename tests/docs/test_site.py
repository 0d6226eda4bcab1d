"""The site in Chromium, as wide as a phone: every link and picture of every page that can be reached is there."""

import pytest

from toy import chromium
from toy.small_project import ROOT

pytestmark = pytest.mark.extended
SITE = ROOT / "site"
# Opens a page in a frame, and writes down what is on it.
BROWSER = """<body><iframe id="frame" style="width: 390px; height: 800px" src="%s"></iframe><script>
const frame = document.getElementById("frame");
frame.onload = () => {
  const page = frame.contentDocument;
  const found = {
    broken: [...page.images].filter(image => !image.naturalWidth).map(image => image.src),
    ids: [...page.querySelectorAll("[id]")].map(element => element.id),
    links: [...page.links].map(link => link.href),
    wide: page.documentElement.scrollWidth > 390,
  };
  document.body.innerHTML = "<pre id=result></pre>";
  document.getElementById("result").textContent = JSON.stringify(found);
};
</script></body>"""


@pytest.fixture
def opened(tmp_path):
    """Opens a page in Chromium: what is on it."""
    if not chromium.PROGRAM or not (SITE / "index.html").is_file():
        pytest.skip("needs Chromium, and the site that `make docs` builds")
    return lambda url: chromium.result(BROWSER % url, tmp_path)[0]


def test_every_link_and_picture_of_the_site_is_there(opened):
    pages, todo = {}, [(SITE / "index.html").as_uri()]
    while todo:
        url = todo.pop()
        if url not in pages:
            pages[url] = opened(url)
            links = (link.partition("#")[0] for link in pages[url]["links"])
            todo += [link for link in links if link.startswith(SITE.as_uri()) and link.endswith(".html")]
    assert len(pages) > 40
    assert [url for url, page in pages.items() if page["broken"] or page["wide"]] == []
    for url, page in pages.items():
        for target, _, anchor in (link.partition("#") for link in page["links"] if link.startswith(SITE.as_uri())):
            assert (SITE / target.removeprefix(f"{SITE.as_uri()}/")).is_file(), (url, target)
            assert not anchor or anchor in pages[target]["ids"], (url, target, anchor)
