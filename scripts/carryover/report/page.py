"""A report: one HTML page that needs no other file."""

from carryover.provenance import store
from carryover.report import claims_page, sections
from carryover.report.contents import by_paper
from carryover.report.style import STYLE
from carryover.report.words import count, escaped


def page(contents, note=""):
    """The whole page of `Contents`; `note` is one more line at its end."""
    claims = store.load(contents.claims) if contents.claims else None
    parts = [_section("claims", "Claims", sections.claims_section(claims))] if contents.claims else []
    parts.append(sections.figures(contents, claims))
    if contents.tables:
        parts.append(_section("tables", "Tables", sections.tables(contents)))
    parts.append(_section("computing", "Rules and run times", sections.computing(contents)))
    parts.append(_section("provenance", "Where it all came from", sections.came_from(contents)))
    style, script = (claims_page.STYLE, f"<script>{claims_page.SCRIPT}</script>\n") if contents.claims else ("", "")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Carryover: report</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">\n'
        f"<style>{STYLE}{style}</style></head>\n<body>\n"
        '<a class="skip" href="#main">Skip to the results</a>\n'
        f"{_navigation(contents)}\n{_header(contents, claims)}\n"
        '<main id="main" tabindex="-1">\n' + "\n".join(parts) + "\n</main>\n"
        f"<footer><p><small>{escaped(note)}</small></p></footer>\n{script}</body></html>\n"
    )


def _section(name, head, body):
    return f'<section id="{name}" aria-labelledby="{name}-head"><h2 id="{name}-head">{head}</h2>\n{body}</section>'


def _header(contents, claims):
    shown = [count(len(contents.figures), "figure"), count(len(contents.tables), "table")]
    said = "" if claims is None else f' <a href="#claims">{claims_page.summary(claims)}</a>'
    return (
        "<header><h1>Carryover</h1>\n<p>What does pretraining leave behind for finetuning? "
        f"{' and '.join(shown)} from the results in <code>{escaped(contents.results)}</code>.{said}</p></header>"
    )


def _navigation(contents):
    """Links to the sections, with those to the figures of each paper folded."""
    links = [_link("claims", "Claims")] if contents.claims else []
    for (paper, _), headings in by_paper(contents.figures).items():
        listed = [_link(f"figure-{one.name}", one.title) for found in headings.values() for one in found]
        links.append(
            _link(sections.anchor(paper), f"Figures: {paper}")
            + f"<details><summary>{count(len(listed), 'figure')}</summary>{_list(listed)}</details>"
        )
    links += [_link("tables", "Tables")] if contents.tables else []
    links += [_link("computing", "Rules and run times"), _link("provenance", "Where it all came from")]
    return f'<nav aria-label="Contents">{_list(links)}</nav>'


def _link(name, text):
    return f'<a href="#{name}">{escaped(text)}</a>'


def _list(items):
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
