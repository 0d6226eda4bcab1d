"""Open a finished report in a browser: `python tests/report/open_report.py results/report.html`.

Ends with one sentence for each thing that is wrong: what the browser complains about, what it had to fetch, pictures
that are not seen, a page wider than its window, links that lead nowhere. Does nothing where there is no browser.
"""

import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urldefrag

import chromium

SEEN = "[...document.images].map(e => e.complete && e.naturalWidth > 0 && e.getBoundingClientRect().width > 0)"
LINKS = '[...document.querySelectorAll("a[href]")].map(e => e.getAttribute("href"))'
ANCHORS = '[...document.querySelectorAll("[id]")].map(e => e.id)'


def faults(browser, report):
    """Sentences on what is wrong with it."""
    browser.open(report.resolve().as_uri())
    yield from (f"the browser complains: {text}" for text in browser.complaints())
    yield from (f"it fetches {url}" for url in browser.requests() if url != report.resolve().as_uri())
    for width in (1280, 390):
        browser.show(width)
        seen = browser.run(SEEN)
        if not seen or not all(seen):
            yield f"at {width} px {seen.count(False)} of {len(seen)} pictures are not seen"
        browser.run('document.querySelectorAll("details").forEach(e => e.open = true)')
        if (wide := browser.run("document.documentElement.scrollWidth")) > width:
            yield f"at {width} px the page is {wide} px wide"
    anchors = set(browser.run(ANCHORS))
    for link in set(browser.run(LINKS)):
        file, anchor = urldefrag(link)
        there = (report.parent / unquote(file)).exists() if file else anchor in anchors
        if "://" not in link and not there:
            yield f"the link {link} leads nowhere"


def main(report):
    if not chromium.PROGRAM:
        print("no browser here: the report was not opened")
        return
    with tempfile.TemporaryDirectory() as profile, chromium.page(Path(profile)) as browser:
        if found := list(faults(browser, report)):
            sys.exit("\n".join(found))
    print(f"{report} opens as it should")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
