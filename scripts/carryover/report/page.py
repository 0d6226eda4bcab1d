"""The report: every figure, table and claim on one HTML page that needs no other file, in the order of the papers."""

import base64
import io
import re
import shlex
from collections import Counter
from pathlib import Path

from PIL import Image

from carryover.config import papers
from carryover.config.claims import OWN
from carryover.provenance import job_record, records, store
from carryover.report import claims_page
from carryover.templates import rendering
from carryover.workflow import command_line, startup


def main(argv):
    """`report.py FOLDER [--configfile FILE …] --output FILE`: the report on a folder of results."""
    parser = command_line.parser("report.py", "Put the results of a folder on one HTML page.")
    parser.add_argument("results", metavar="FOLDER", help="the results to show")
    startup.add_configuration(parser)
    arguments = parser.parse_args(argv)
    # Resolved alone, not checked: models of plug-ins are no part of this job's code.
    config = papers.merge_papers(
        startup.configuration(arguments.configfile), job_record.SCRIPTS.parent / "config/papers"
    )
    maps = {file for found in map_files(config, arguments.results).values() for file in found.values()}
    inputs = [*files(config, arguments.results).values(), *sorted(filter(Path.is_file, maps))]
    sections = {section: config.get(section, {}) for section in ("papers", "figures", "tables")}
    with command_line.job("report", arguments, inputs, parameters=sections) as job:
        for output in arguments.output:
            text = page(config, arguments.results, job.note, arguments.configfile)
            job.path(output).write_text(text, encoding="utf-8")


def files(config, results):
    """{(section, name): Path} of the figures, tables and claims of the configuration that exist."""
    results = Path(results)
    paths = {("figures", name): results / f"figures/{name}.png" for name in config.get("figures", {})}
    paths |= {("tables", name): results / f"tables/{name}.md" for name in config.get("tables", {})}
    paths["claims", "all"] = results / "claims.nc"
    return {key: file for key, file in paths.items() if file.is_file()}


def map_files(config, results):
    """{figure: {role: Path}} of the maps of every figure of the configuration that draws the atlas."""
    figures = {name: e for name, e in config.get("figures", {}).items() if (e.get("plot") or name) == "atlas"}
    return {name: {role: Path(results, f"{reference}.nc") for role, reference in entry["data"].items()}
            for name, entry in figures.items()}  # fmt: skip


def page(config, results, note="", configfile=("config/config.yaml",)):
    """The whole page, HTML text, on a folder of results, by a configuration (a dictionary) with its papers, that of the
    files `configfile`; `note` is one more line at the end. Each section of a paper has `parts`: {heading: [figure or
    table]}."""
    existing = files(config, results)
    absent = [name for name in config.get("figures", {}) if ("figures", name) not in existing]
    table = existing.pop(("claims", "all"), None)
    claims = claims_page.by_paper(store.load(table)) if table else {}
    recorded, maps, library = records.all_records(results), map_files(config, results), ""
    sections: dict = {}
    for (kind, name), file in existing.items():
        entry, record = config[kind][name], job_record.read(job_record.record_path(file))
        about = config.get("papers", {}).get(entry.get("paper"), {"name": OWN, "heading": "Figures of your own"})
        section = sections.setdefault(about["name"], _section(about, config, claims))
        if kind == "figures":
            heading, part = about.get("heading", about["name"]), _figure(entry, file, config, claims)
            if name in maps:
                part |= _chart(name, maps[name], config, existing, configfile)
                library = part.get("library", library)
        else:  # heads and rows of the first table in a file of GitHub's Markdown
            lines = [line.strip()[1:-1] for line in file.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
            cells = [[cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)] for line in lines]
            heading, part = "Tables", {"picture": "", "heads": cells[0], "rows": cells[2:]}
        title = record["parameters"].get("title") or name.replace("_", " ")
        origin = _origin(record, records.upstream(min(record["outputs"]), recorded))
        part |= {"name": name, "title": title, "caption": entry.get("caption", ""), "origin": origin}
        section["parts"].setdefault(heading, []).append(part)
    sections |= {name: _section({"name": name}, config, claims) for name in claims if name not in sections}
    summary = claims_page.summary(claims) if claims else ""
    return rendering.render(
        "report.html.j2",
        results=results, absent=absent, papers=sections, summary=summary, library=library, note=note,
    )  # fmt: skip


def _section(about, config, claims):
    """The section of a paper, a dictionary for the template: citation, overview, index and claims; `page` adds figures
    and tables to its `parts`. `about` is the paper's entry in the configuration, `claims` the result of `by_paper`."""
    known = {claim["id"].removeprefix("claim-"): claim for paper in claims.values() for claim in paper}
    of_paper = claims.get(about["name"], [])
    cited = [str(about[key]) for key in ("authors", "title", "venue", "year") if key in about]
    cited += [f"arXiv:{about['arxiv']}"] if "arxiv" in about else []
    verdicts = Counter(claim["verdict"] for claim in of_paper)
    return {
        "citation": ", ".join(cited),
        "overview": about.get("overview", ""),
        "verdicts": ", ".join(f"{verdict}: {number}" for verdict, number in verdicts.items()),
        "items": reproduction_items(about, config, known),
        "claims": of_paper,
        "parts": {},
    }


def reproduction_items(about, config, claims):
    """Every figure, table and theorem of a paper, in its order, with what this configuration makes of it.

    They are the items of `about`, the paper's entry in the configuration, with those `figures` and `tables` that it
    makes, the `data` of these, and those of the `claims`, {name: claim with its verdict}, that are tested here.
    """
    items = []
    for item in about.get("items", []):
        drawn = {kind: [n for n in item.get(kind, []) if n in config.get(kind, {})] for kind in ("figures", "tables")}
        entries = [config[kind][name] for kind, names in drawn.items() for name in names]
        data = dict.fromkeys(file for entry in entries for file in entry.get("data", {}).values())
        known = [claims[name] for name in item.get("claims", []) if name in claims]
        items.append({"functions": [], "differs": ""} | item | drawn | {"data": list(data), "claims": known})
    return items


def _figure(entry, file, config, claims):
    """Picture of a figure, the checks that its title states, and claims on the same data, for the template.

    `entry` is its entry in the configuration, `file` its PNG, `claims` the result of `by_paper`."""
    all_claims = [claim for paper in claims.values() for claim in paper]
    known = {check["id"]: check for claim in all_claims for check in claim["checks"]}
    stated = entry.get("supported_by", [])
    data = set(entry["data"].values())
    # A check is named group/check: claims on the same data are those of groups that read a file of the figure.
    groups = {group for group, other in config.get("claims", {}).items() if data & set(other["data"].values())}
    compressed = io.BytesIO()
    with Image.open(file) as image:
        image.convert("RGB").quantize(128).save(compressed, "png")  # a third of the bytes
    return {
        "chart": None,
        "chart_missing": "",
        "picture": f"data:image/png;base64,{base64.b64encode(compressed.getvalue()).decode()}",
        "width": image.width // 2,  # figures have twice the resolution of a plain screen
        "stated": [known[claim] for claim in stated if claim in known],
        "untested": [claim for claim in stated if claim not in known],
        "tested": [c for c in all_claims if groups & {check["id"].partition("/")[0] for check in c["checks"]}],
    }


def _chart(name, maps, config, existing, configfile):
    """The interactive atlas next to the figure `name`, or why it is missing, for the template.

    `maps` are its files by role, and `existing` those by `files`. A click leads to the first figure of the same runs.
    """
    try:
        from carryover.report import interactive  # here, since Altair takes a second to import
    except ModuleNotFoundError as error:
        return {"chart_missing": f"There is no interactive atlas without {error.name}, which is not installed."}
    if missing := [str(file) for file in maps.values() if not file.is_file()]:
        return {"chart_missing": f"There is no interactive atlas without {', '.join(missing)}."}
    commands, targets = {}, {}
    for role, file in maps.items():
        comparison = config.get("comparisons", {}).get(file.stem, {"data": {}})
        runs = comparison["data"].get("risk")
        targets[role] = next((other for kind, other in existing
                              if kind == "figures" and runs in config[kind][other]["data"].values()), name)  # fmt: skip
        commands[role] = shlex.join(["snakemake", "--cores", "all", str(file), "--configfile", *configfile])
    settings = config["figures"][name].get("options", {}).get("settings", 0)
    data = {role: store.load(file) for role, file in maps.items()}
    return {"chart": interactive.chart(data, settings, commands, targets), "library": interactive.library()}


def _origin(record, upstream):
    """{term: text}: where a result comes from, as the report lists it; terms without a text are left out.

    `record` is the record of the job that made the result, `upstream` {output: record} of this job and of all jobs that
    it depends on.
    """
    jobs = records.jobs(upstream.values())
    archived = {job["parameters"]["commit"] for job in jobs if job["rule"] == "unarchive"}
    seeds = sorted({seed for job in jobs for seed in job["seeds"]})
    rules = Counter(job["rule"] for job in jobs)
    facts = {
        "Command": " ".join(record["command"]),
        "Inputs": ", ".join(f"{name} ({file['sha256'][:12]})" for name, file in record["inputs"].items()),
        "Jobs": ", ".join(f"{number} {rule}" for rule, number in sorted(rules.items())),
        "Seeds": f"{len(seeds)}, from {seeds[0]} to {seeds[-1]}" if seeds else "",
        "Commits": ", ".join(records.commits(jobs)),
        "Commits of archived data": ", ".join(sorted(archived)),
        "Code": record["code"]["digest"],
        "Request": record["request"],
    }
    return {term: text for term, text in facts.items() if text}
