"""A report: one HTML page that needs no other file."""

import base64
import re
from collections import Counter
from functools import partial

from carryover.analysis.claims_table import ORDER
from carryover.audit import report as verdicts
from carryover.errors import UserError
from carryover.provenance import job_record, record_index, store
from carryover.report import claims_page, costs, graph, jobs
from carryover.report.contents import by_paper, in_words
from carryover.report.overview import overviews
from carryover.report.words import count, duration, memory, seeds
from carryover.templates.rendering import rendered

_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}
SHOWN = 12  # characters of a digest


def page(contents, note=""):
    """The whole page of `Contents`; `note` is one more line at its end."""
    claims = store.load(contents.claims) if contents.claims else None
    rows = [] if claims is None else list(claims.to_dataframe().itertuples())
    work = jobs.work(contents.records)
    return rendered(
        "report.html.j2",
        contents=contents,
        papers=by_paper(contents.figures),
        overviews=overviews(contents, rows),
        claims=None if claims is None else claims_shown(claims, contents),
        claims_of=partial(claims_of, rows=rows, data=contents.claims_data),
        stated=partial(stated, rows={row.Index: row for row in rows}),
        origin=partial(origin, records=contents.records),
        work=work,
        graph=graph.drawing(work, jobs.edges(contents.records)),
        run_times=run_times(work),
        facts=facts(contents),
        doubtful=[(o.path, o.verdict, o.cause) for o in verdicts.ordered(contents.findings) if o.verdict != "OK"],
        software=[(name, ", ".join(versions)) for name, versions in jobs.software(contents.records.values()).items()],
        note=note,
        **{one.__name__: one for one in (anchor, data_uri, duration, in_words, pipes, said_of)},
        counted=count,
    )


def claims_shown(table, contents):
    """The table of claims, with what the seeds cost that undecided ones lack."""
    found = costs.costs(table, str(contents.claims), contents.records)
    return claims_page.shown(table, {claim: str(one) for claim, one in found.items()}, costs.sentence(found))


def origin(record, records):
    """Inputs, digests, commits, seeds and time of a result and of all that went into it."""
    above = jobs.upstream(record, records)
    everything = [record, *above.values()]
    done = record_index.jobs(everything)
    kinds = Counter(one["rule"] for one in done)
    return [
        ("Made of", [f"{name} ({file['sha256'][:SHOWN]})" for name, file in record["inputs"].items()]),
        ("Through", ", ".join(count(number, f"{rule} job") for rule, number in sorted(kinds.items()))),
        ("Seeds", seeds(jobs.seeds(everything))),
        ("Computing time", duration(sum(one["volatile"]["duration"] for one in done))),
        ("Commits", record_index.commits(everything)),
        ("Request", record["request"]),
        ("Record", job_record.record_digest(record)),
    ]


def claims_of(figure, rows, data):
    """The rows of the table of claims that are tested on data of a figure; `data` are the datasets of each group."""
    return [row for row in rows if figure.data & data.get(row.Index.partition("/")[0], frozenset())]


def stated(figure, rows):
    """The rows of claims that the title of a figure states, where there are claims; UserError for an unknown one."""
    if unknown := [name for name in figure.rests_on if rows and name not in rows]:
        raise UserError(f"figures.{figure.name}.rests_on: there is no claim {unknown[0]}.")
    return [rows[name] for name in figure.rests_on if rows]


def said_of(rows):
    """How many claims have which verdict."""
    counts = Counter(row.verdict for row in rows)
    return ", ".join(f"{verdict}: {counts[verdict]}" for verdict in ORDER if verdict in counts)


def run_times(work):
    """Rows of the jobs, time and memory of each rule, in the order of the work."""
    ordered = {rule: work[rule] for rule in graph.PLACES if rule in work} | work
    return [
        (rule, one.jobs, duration(one.total), duration(one.longest), memory(one.memory))
        for rule, one in ordered.items()
    ]


def facts(contents):
    """Verdicts of the audit, root digest, commits and machines."""
    records = list(contents.records.values())
    return [
        ("Audit when this page was written", verdicts.summary(contents.findings)),
        ("Root digest over all records but those of reports and crates", contents.root),
        ("Records", f"{len(records)}, of {count(len(record_index.jobs(records)), 'job')}"),
        ("Seeds", seeds(jobs.seeds(records))),
        ("Commits", record_index.commits(records)),
        ("Machines", jobs.machines(records)),
    ]


def pipes(file):
    """Heads and rows of the first table in a file of GitHub's Markdown."""
    lines = [line.strip().strip("|") for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return [cells[0], *cells[2:]]


def data_uri(file):
    """A picture's bytes, to stand in the page."""
    return f"data:{_TYPES[file.suffix]};base64,{base64.b64encode(file.read_bytes()).decode()}"


def anchor(name):
    """A name as an id."""
    return re.sub(r"\W+", "-", name.lower())
