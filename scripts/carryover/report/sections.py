"""The sections of a report as HTML."""

import base64
import re
from collections import Counter

from carryover.analysis.claims_table import ORDER
from carryover.audit import report as verdicts
from carryover.provenance import job_record
from carryover.report import claims_page, graph, jobs
from carryover.report.contents import by_paper, in_words
from carryover.report.words import count, described, duration, escaped, folded, memory, scrolling, seeds, table

_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}
SHOWN = 12  # characters of a digest


def figures(contents, claims):
    """One section per paper with its figures by heading; `claims` is the table of claims, or None."""
    sections = []
    for (paper, cited), headings in by_paper(contents.figures).items():
        shown = "\n".join(
            f"<h3>{escaped(heading)}</h3>\n" + "\n".join(figure(one, contents, claims) for one in found)
            for heading, found in headings.items()
        )
        sections.append(
            f'<section id="{anchor(paper)}" aria-labelledby="{anchor(paper)}-head">'
            f'<h2 id="{anchor(paper)}-head">Figures: {escaped(paper)}</h2>\n<p>{escaped(cited)}</p>\n{shown}</section>'
        )
    return "\n".join(sections)


def figure(one, contents, claims):
    """A figure: image, caption, files, claims on the same data and where it came from."""
    width, height = (pixels // 2 for pixels in one.size)  # drawn for twice the density of a plain screen
    picture = (
        f'<img src="{data_uri(one.image)}" width="{width}" height="{height}" alt="{escaped(f"Plot: {one.title}")}">'
    )
    head = f"figure-{one.name}"
    title = escaped(one.title)
    links = ", ".join(
        f'<a href="figures/{one.name}.{suffix}" aria-label="{title}, {suffix.upper()}">{suffix.upper()}</a>'
        for suffix in ("pdf", "svg", "png")
    )
    return (
        f'<article class="figure" id="{head}" aria-labelledby="{head}-head"><h4 id="{head}-head">{title}</h4>\n'
        f"<figure>{scrolling(picture, one.title, 'plate')}\n<figcaption>{escaped(one.caption)}</figcaption></figure>\n"
        f"<p>{escaped(one.name)}: {links}</p>\n{_claims_of(one, contents, claims)}\n"
        f"{folded('Where it came from', origin(one.record, contents.records))}</article>"
    )


def origin(record, records):
    """Inputs, digests, commits, seeds and time of a result and of all that went into it."""
    above = jobs.upstream(record, records)
    everything = [record, *above.values()]
    done = jobs.jobs({**above, next(iter(record["outputs"])): record})
    kinds = Counter(one["rule"] for one in done)
    return described(
        [
            ("Made of", [f"{name} ({facts['sha256'][:SHOWN]})" for name, facts in record["inputs"].items()]),
            ("Through", ", ".join(count(number, f"{rule} job") for rule, number in sorted(kinds.items()))),
            ("Seeds", seeds(jobs.seeds(everything))),
            ("Computing time", duration(sum(one["volatile"]["duration"] for one in done))),
            ("Commits", jobs.commits(everything)),
            ("Request", record["request"]),
            ("Record", job_record.record_digest(record)),
        ]
    )


def _claims_of(one, contents, claims):
    """The claims that are tested on data of a figure, each a link into the table."""
    if claims is None:
        return ""
    rows = [
        row
        for row in claims.to_dataframe().itertuples()
        if one.data & contents.claims_data.get(row.Index.partition("/")[0], frozenset())
    ]
    if not rows:
        return ""
    counts = Counter(row.verdict for row in rows)
    said = ", ".join(f"{verdict}: {counts[verdict]}" for verdict in ORDER if verdict in counts)
    items = "\n".join(
        f'<li><a href="#{escaped(row.Index)}">{escaped(row.statement)}</a>: {escaped(row.verdict)}</li>' for row in rows
    )
    return folded(f"Claims on the same data ({said})", f"<ul>{items}</ul>")


def tables(contents):
    """All typeset tables."""
    return "\n".join(_typeset(one, contents) for one in contents.tables)


def _typeset(one, contents):
    name = in_words(one.name)
    return (
        f'<article id="table-{one.name}" aria-labelledby="table-{one.name}-head">'
        f'<h3 id="table-{one.name}-head">{escaped(name)}</h3>\n<p>{escaped(one.caption)}</p>\n'
        f"{table(*pipes(one.file.read_text(encoding='utf-8')), name)}\n<p>{one.name}: "
        f'<a href="tables/{one.name}.md">Markdown</a>, <a href="tables/{one.name}.tex">LaTeX</a></p>\n'
        f"{folded('Where it came from', origin(one.record, contents.records))}</article>"
    )


def pipes(text):
    """(heads, rows) of the first table in GitHub's Markdown."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return cells[0], cells[2:]


def claims_section(claims):
    """The table of claims with its filters."""
    return claims_page.fragment(claims)


def computing(contents):
    """Graph of the rules, and time and memory of each."""
    work = jobs.work(contents.records)
    ordered = [rule for rule in graph.PLACES if rule in work]
    rows = [
        (rule, work[rule].jobs, duration(work[rule].total), duration(work[rule].longest), memory(work[rule].memory))
        for rule in dict.fromkeys([*ordered, *work])
    ]
    total = sum(one.total for one in work.values())
    return (
        scrolling(graph.svg(work, jobs.edges(contents.records)), "Graph of rules")
        + f"\n<p>{count(sum(one.jobs for one in work.values()), 'job')}, {duration(total)} in all, jobs side by side "
        "counted each.</p>\n"
        + table(("Rule", "Jobs", "Time of all", "Longest", "Most memory"), rows, "Time and memory by rule")
    )


def came_from(contents):
    """Verdicts of the audit, root digest, commits, machines and software."""
    records = list(contents.records.values())
    versions = jobs.software(records)
    facts = described(
        [
            ("Audit when this page was written", verdicts.summary(contents.findings)),
            ("Root digest over all records but those of reports and crates", contents.root),
            ("Records", f"{len(records)}, of {count(len(jobs.jobs(contents.records)), 'job')}"),
            ("Seeds", seeds(jobs.seeds(records))),
            ("Commits", jobs.commits(records)),
            ("Machines", jobs.machines(records)),
        ]
    )
    doubtful = [one for one in verdicts.ordered(contents.findings) if one.verdict != "OK"]
    listed = table(("Result", "Verdict", "Cause"), [(one.path, one.verdict, one.cause) for one in doubtful], "Verdicts")
    software = table(("Package", "Version"), [(name, ", ".join(found)) for name, found in versions.items()], "Software")
    return (
        facts
        + (folded(f"The {count(len(doubtful), 'result')} that are not simply OK", listed) if doubtful else "")
        + folded(f"Software: {count(len(versions), 'package')} that jobs have loaded", software)
    )


def data_uri(file):
    """A picture's bytes, to stand in the page."""
    return f"data:{_TYPES[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode()}"


def anchor(name):
    """A name as an id."""
    return re.sub(r"\W+", "-", name.lower())
