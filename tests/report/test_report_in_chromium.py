"""A report in a browser: it loads from its one file, and can be read and used at any width, in any light, by keys."""

import re

import chromium
import pytest

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(not chromium.PROGRAM, reason=f"none of {', '.join(chromium.NAMES)} is installed"),
    pytest.mark.xdist_group("chromium"),
]
ROWS = '[...document.querySelectorAll(".claims tr[id]")]'
FOCUS = "(({activeElement: e}) => e.name || e.textContent.trim())(document)"
# Text and what is behind it: the first background that is not transparent, going outwards.
COLOURS = """
[...document.querySelectorAll("p, a, h1, h3, td, th, dd, summary, figcaption, label, li, small, .rule text")].map(e => {
  const clear = "rgba(0, 0, 0, 0)", behind = b => getComputedStyle(b).backgroundColor;
  let back = e;
  while (behind(back) === clear) back = back.parentElement;
  const style = getComputedStyle(e);
  return [e.tagName, e.tagName === "text" ? style.fill : style.color, behind(back)];
})
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium.page(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def opened(browser, finished):
    """The report in a wide, light window."""
    browser.show(1280)
    browser.open((finished / "results/report.html").as_uri())
    return browser


def pressed_to(browser, name, most=80):
    """Press Tab until something of that name has the focus."""
    for _ in range(most):
        browser.press("Tab")
        if browser.run(FOCUS) == name:
            return
    raise AssertionError(f"{name} cannot be reached by Tab")


def luminance(colour):
    """Relative luminance of an rgb(…) colour, by WCAG 2."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_it_loads_without_a_complaint_or_another_file(opened):
    assert opened.complaints() == []
    assert [url.rpartition("/")[2] for url in opened.requests()] == ["report.html"]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_picture_is_seen_and_the_page_is_no_wider_than_the_window(opened, width):
    opened.show(width)
    shown = "e.complete && e.naturalWidth > 0 && e.getBoundingClientRect().width > 0"
    assert opened.run(f"[...document.images].map(e => {shown})") == [True] * 4
    opened.run('document.querySelectorAll("details").forEach(e => e.open = true)')
    assert opened.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(opened, scheme):
    opened.show(1280, scheme)
    body = opened.run("getComputedStyle(document.body).backgroundColor")
    assert (luminance(body) > 0.5) == (scheme == "light")
    found = opened.run(COLOURS)
    assert {"P", "TD", "text", "FIGCAPTION"} <= {tag for tag, *_ in found}
    assert [row for row in found if contrast(*row[1:]) < 4.5] == []
    plate = opened.run('getComputedStyle(document.querySelector(".plate")).backgroundColor')
    assert plate == "rgb(255, 255, 255)"


def test_claims_are_sorted_and_filtered_by_keys(opened):
    verdicts = f"{ROWS}.filter(e => !e.hidden).map(e => e.dataset.verdict)"
    assert opened.run(verdicts) == ["fails", "undecided", "holds", "holds"]
    pressed_to(opened, "verdict")
    opened.press("ArrowDown")
    assert opened.run(verdicts) == ["fails"]
    opened.run('document.querySelector("[name=verdict]").value = "all"')
    pressed_to(opened, "text")
    opened.write("of NORMS")
    assert opened.run(verdicts) == ["undecided", "holds"]
    opened.run('document.querySelector(".claims form").reset()')
    pressed_to(opened, "Statistic")
    statistics = f"{ROWS}.map(e => Number(e.cells[2].dataset.sort))"
    for order in ("ascending", "descending"):
        opened.press("Enter")
        assert opened.run("document.activeElement.closest('th').getAttribute('aria-sort')") == order
        values = opened.run(statistics)
        assert values == sorted(values, reverse=order == "descending")
        assert len(set(values)) == 4
