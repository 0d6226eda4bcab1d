"""What a report shows: figures, tables and claims, with what the configuration and their records say of them."""

from dataclasses import dataclass
from pathlib import Path

from carryover.analysis.intervals import OWN
from carryover.errors import UserError
from carryover.provenance import store


@dataclass(frozen=True)
class Paper:
    """What a paper's file says: the paper's name, a citation, the heading of the file's figures, what came out of it,
    and the figure that says most."""

    name: str = OWN
    citation: str = "what stands in no paper's file"
    heading: str = "Figures of your own"
    overview: str = ""
    first: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure: `image` is the smaller of its SVG and PNG, `size` the width and height of the PNG in pixels.

    `data` are the collected datasets that it is drawn from, as `experiment/measure`, `rests_on` the claims that its
    title states, as `group/claim`; `record` is that of the PNG.
    """

    name: str
    title: str
    paper: Paper
    caption: str
    data: frozenset[str]
    rests_on: list[str]
    image: Path
    size: tuple[int, int]
    record: dict


@dataclass(frozen=True)
class Table:
    """A typeset table: its Markdown and its record."""

    name: str
    caption: str
    file: Path
    record: dict


@dataclass(frozen=True)
class Contents:
    """All that a report shows of the results in the folder `results`.

    `records` is {path: record} of every result but reports and crates, `root` the digest over them as `audit` computes
    it, `findings` are the verdicts of an audit on the same results, `claims` is the table's file, if there are claims.
    """

    results: str
    papers: list[Paper]
    figures: list[Figure]
    tables: list[Table]
    claims: Path | None
    claims_data: dict[str, frozenset[str]]
    records: dict[str, dict]
    root: str
    findings: list

    @property
    def files(self):
        """The files that the page is made of."""
        shown = [figure.image for figure in self.figures] + [table.file for table in self.tables]
        return shown + ([self.claims] if self.claims else [])


def gather(config, audit):
    """The `Contents` of a configuration's results, from an `audit` of them (`project.audit`).

    Raises UserError for a figure, table or table of claims that is not there or has no record.
    """
    results, chain = config["pathvars"]["results"], audit.chain
    records, papers = chain.lasting, _papers(config)
    return Contents(
        results=results,
        papers=list(papers.values()),
        figures=[_figure(name, entry, papers, results, records) for name, entry in config.get("figures", {}).items()],
        tables=[_table(name, entry, results, records) for name, entry in config.get("tables", {}).items()],
        claims=_result(f"{results}/claims.nc", records)[0] if config.get("claims") else None,
        claims_data={group: _datasets(entry) for group, entry in config.get("claims", {}).items()},
        records=records,
        root=audit.root,
        findings=[one for path, one in audit.findings.items() if path in records or path not in chain.records],
    )


def by_paper(figures):
    """{(name of a paper, its citation): {heading: figures}}, in the order of the configuration."""
    papers = {}
    for figure in figures:
        paper = papers.setdefault((figure.paper.name, figure.paper.citation), {})
        paper.setdefault(figure.paper.heading, []).append(figure)
    return papers


def _papers(config):
    return {
        file: Paper(
            about["name"],
            citation(about),
            about.get("heading", about["name"]),
            about.get("overview", ""),
            about.get("first", ""),
        )
        for file, about in config.get("papers", {}).items()
    }


def citation(about):
    """A paper in one line: authors, title, where and when it was published, as far as its file says so."""
    told = [str(about[key]) for key in ("authors", "title", "venue", "year") if key in about]
    return ", ".join(told + ([f"arXiv:{about['arxiv']}"] if "arxiv" in about else []))


def in_words(name):
    """A name of the configuration as a heading: `bound_correlations` is Bound correlations."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _figure(name, entry, papers, results, records):
    png, record = _result(f"{results}/figures/{name}.png", records)
    svg = png.with_suffix(".svg")
    return Figure(
        name=name,
        title=record["parameters"].get("title") or in_words(name),
        paper=papers.get(entry.get("paper"), Paper()),
        caption=entry.get("caption") or "",
        data=_datasets(entry),
        rests_on=list(entry.get("rests_on", [])),
        image=min((svg, png), key=_bytes),
        size=_png_size(png),
        record=record,
    )


def _table(name, entry, results, records):
    file, record = _result(f"{results}/tables/{name}.md", records)
    return Table(name, entry.get("caption") or "", file, record)


def _result(path, records):
    """(file, record) of a result."""
    if path not in records:
        raise UserError(f"{path} is not there, or has no record: run the workflow first, or ask audit")
    store.sha256(path)  # says what is wrong with a file that cannot be opened
    return Path(path), records[path]


def _datasets(entry):
    """What an entry of the configuration is made of, files from outside left out."""
    return frozenset(ref for ref in entry["data"].values() if not Path(ref).suffix)


def _bytes(file):
    try:
        return file.stat().st_size
    except OSError as error:
        raise store.unreadable(file, error) from None


def _png_size(path):
    """(width, height) in pixels: they stand at a fixed place in every PNG."""
    head = path.read_bytes()[:24]
    if len(head) < 24 or head[12:16] != b"IHDR":
        raise UserError(f"{path} is no PNG, or damaged: delete it and run again")
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
