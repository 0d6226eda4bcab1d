"""The report: every figure, table and claim on one HTML page that needs no other file, in the order of the papers."""

import base64
import mimetypes
import re
from collections import Counter
from pathlib import Path

from carryover.analysis.intervals import OWN
from carryover.errors import UserError
from carryover.provenance import record_index, store
from carryover.report import claims_page
from carryover.templates.rendering import rendered

SHOWN = 12
"""Characters of a digest."""


def files(config):
    """The figures, tables and claims that the configuration asks for and that are there.

    Returns
    -------
    dict
        {(section, name): Path} of the smaller of PNG and SVG, of Markdown, and of the dataset of all claims.
    """
    results = Path(config["pathvars"]["results"])
    found = {}
    for name in config.get("figures", {}):
        images = [results / f"figures/{name}{suffix}" for suffix in (".svg", ".png")]
        if all(image.is_file() for image in images):
            found["figures", name] = min(images, key=lambda image: image.stat().st_size)
    others = {("tables", name): results / f"tables/{name}.md" for name in config.get("tables", {})}
    others["claims", "all"] = results / "claims.nc"
    return found | {key: file for key, file in others.items() if file.is_file()}


def page(config, note=""):
    """The whole page.

    Parameters
    ----------
    config : dict
        The configuration with its papers, and the folder of the results.
    note : str
        One more line at the end.

    Raises
    ------
    UserError
        If a title rests on an unknown claim, or a file has no record.
    """
    results, there = config["pathvars"]["results"], files(config)
    records = {name: one.record for name, one in record_index.all_made(results).items()}
    table = store.load(there["claims", "all"]) if ("claims", "all") in there else None
    claims = {} if table is None else claims_page.by_paper(table)
    sections = {}
    for (kind, name), file in there.items():
        if kind != "claims":
            entry = config[kind][name]
            about = config.get("papers", {}).get(entry.get("paper"), {"name": OWN, "heading": "Figures of your own"})
            section = sections.setdefault(about["name"], _section(about, claims.get(about["name"], [])))
            heading = "Tables" if kind == "tables" else about.get("heading", about["name"])
            record = record_index.made(file, below=results).record
            shown = _table(file) if kind == "tables" else _figure(name, entry, file, config, claims)
            shown |= {
                "name": name,
                "title": record["parameters"].get("title") or name.replace("_", " "),
                "caption": entry.get("caption", ""),
                "origin": _origin(record, records),
            }
            section["parts"].setdefault(heading, []).append(shown)
    for name in claims.keys() - sections.keys():
        sections[name] = _section({"name": name}, claims[name])
    return rendered(
        "report.html.j2",
        results=results,
        absent=[name for name in config.get("figures", {}) if ("figures", name) not in there],
        papers=sections,
        summary="" if table is None else claims_page.summary(table),
        note=note,
    )


def _section(about, claims):
    """A paper: its citation, what came out of it, its claims, and {heading: figures or tables}, yet empty."""
    cited = [str(about[key]) for key in ("authors", "title", "venue", "year") if key in about]
    cited += [f"arXiv:{about['arxiv']}"] if "arxiv" in about else []
    verdicts = Counter(claim["verdict"] for claim in claims)
    return {
        "citation": ", ".join(cited),
        "overview": about.get("overview", ""),
        "verdicts": ", ".join(f"{verdict}: {number}" for verdict, number in verdicts.items()),
        "claims": claims,
        "parts": {},
    }


def _figure(name, entry, file, config, claims):
    """Picture of a figure, the claims that its title states, and others on the same data."""
    known = {claim["id"]: claim for paper in claims.values() for claim in paper}
    stated = entry.get("rests_on", []) if known else []
    if unknown := [claim for claim in stated if claim not in known]:
        raise UserError(f"figures.{name}.rests_on: there is no claim {unknown[0]}.")
    groups = {
        group
        for group, other in config.get("claims", {}).items()
        if set(entry["data"].values()) & set(other["data"].values())
    }
    content = file.read_bytes()
    png = content if file.suffix == ".png" else file.with_suffix(".png").read_bytes()
    return {
        "picture": f"data:{mimetypes.guess_type(file)[0]};base64,{base64.b64encode(content).decode()}",
        "width": int.from_bytes(png[16:20]) // 2,  # drawn for twice the density of a plain screen
        "stated": [known[claim] for claim in stated],
        "tested": [one for name, one in known.items() if name.partition("/")[0] in groups and name not in stated],
    }


def _table(file):
    """Heads and rows of the first table in a file of GitHub's Markdown."""
    lines = [line.strip()[1:-1] for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
    return {"picture": "", "heads": cells[0], "rows": cells[2:]}


def _origin(record, records):
    """{term: text} on a job and on all jobs that it depends on, by their records."""
    above, todo = {}, [record]
    while todo:
        found = {name: records[name] for name in todo.pop()["inputs"] if name in records and name not in above}
        above |= found
        todo += found.values()
    jobs = record_index.jobs([record, *above.values()])
    archived = {one["parameters"]["commit"] for one in jobs if one["rule"] == "unarchive"}
    rules = Counter(one["rule"] for one in jobs)
    facts = {
        "Command": " ".join(record["command"]),
        "Inputs": ", ".join(f"{name} ({file['sha256'][:SHOWN]})" for name, file in record["inputs"].items()),
        "Jobs": ", ".join(f"{number} {rule}" for rule, number in sorted(rules.items())),
        "Seeds": ", ".join(map(str, sorted({seed for one in jobs for seed in one["seeds"]}))),
        "Commits": ", ".join(record_index.commits(jobs)),
        "Commits of archived data": ", ".join(sorted(archived)),
        "Code": record["code"]["digest"],
        "Request": record["request"],
    }
    return {term: text for term, text in facts.items() if text}
