"""The walk of `docs/anatomy.md` is short, and every name on it leads where the page says; so is the README."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs/anatomy.md").read_text(encoding="utf-8")
# [(names of files, sections of the first one that are read, the name that leads there)]
ROWS = [
    (re.findall(r"`([^`]+/[^`]+)`", files), re.findall(r"`(\w+)`", files), "".join(re.findall(r"`([^`]+)`", name)))
    for files, name in re.findall(r"^\| \d+ \| (.*?) \| (.*?) ?\|$", PAGE, re.MULTILINE)
]


def section(text, key):
    """The lines of a key of YAML and of what is indented below it."""
    match = re.search(rf"^( *){key}:.*\n(?:\1 +.*\n|\s*\n)*", text, re.MULTILINE)
    return match[0]


def read(files, sections):
    """What a hop opens: whole files, or the sections that it names."""
    texts = [(ROOT / file).read_text(encoding="utf-8") for file in files]
    return "".join(section(texts[0], key) for key in sections) if sections else "".join(texts)


def test_it_takes_at_most_twelve_hops_and_1500_lines():
    assert 10 <= len(ROWS) <= 12
    assert PAGE.count("\n1. ") == 1
    assert f"\n{len(ROWS)}. " in PAGE
    lines = sum(len(read(files, sections).splitlines()) for files, sections, _ in ROWS)
    assert lines <= 1500, lines


def test_every_name_stands_in_a_file_opened_before():
    before = ""
    for files, sections, name in ROWS:
        assert files, "a hop opens nothing"
        # A section's key at the top of a file is seen on the way to what is read of it.
        assert (name in before) or (not before and not name) or f"\n{name}" in (ROOT / ROWS[0][0][0]).read_text(), name
        assert all((ROOT / file).is_file() for file in files)
        before += read(files, sections)


def test_the_readme_is_short_and_its_links_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link).is_file()] == []
