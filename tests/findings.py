"""Whether titles and findings are true of the results: `python tests/findings.py [--exactly | --write] [--archived]`.

`python tests/findings.py --archive TABLE.nc FILE.csv` writes a table of claims as text.

A figure's `rests_on` names claims, which must hold, as do those of a comment after a sentence, `<!-- rests on
linear_transfer/negative linear_transfer/positive -->`, in README.md, docs/atlas.md and docs/findings*.md. There a
comment after a number says which claim's statistic it is, `+3.5 [1.7, 5.3]<!-- convnet_rescaling/resnet_pairs * 100
-->`. Tables end with `<!-- end -->`: one of verdicts begins with `<!-- verdicts -->`, one of claims that fail with
`<!-- failed -->`, and one of the verdicts of some claims at both scales with `<!-- headlines NAME … -->`. The index of
a paper in docs/reproduction.md begins with `<!-- reproduction PAPER -->`. A number is stale where it lies outside the
interval that is found now, for on another processor networks become others of the same distribution; with --exactly,
where any digit differs. --write puts what is found in the place of what is there. A page on an archive, `<!-- claims
archived in FILE -->`, is held against that table, digit by digit, as are the titles of the configuration that names the
archive; with --archived that alone is done, which needs no results.
"""

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from tabulate import tabulate  # noqa: E402

from carryover.analysis import archived_claims  # noqa: E402
from carryover.analysis.claims_table import ORDER, counts  # noqa: E402
from carryover.audit import project  # noqa: E402
from carryover.config import files  # noqa: E402
from carryover.provenance import store  # noqa: E402
from carryover.report import reproduction  # noqa: E402
from carryover.workflow import startup  # noqa: E402

_NUMBER = r"[+−]?(?:\d+(?:\.\d+)?|\.\d+)"
QUOTED = re.compile(
    rf"(?P<number>{_NUMBER})(?:\s\[(?P<low>{_NUMBER}),\s(?P<high>{_NUMBER})\])?(?P<unit>\s?%)?"
    r"<!-- (?P<claim>\w+/\S+)(?: \* (?P<factor>-?[\d.]+))? -->"
)
STATED = re.compile(r"<!-- rests on (?P<claims>[^>]*?) -->")
PAGES = "README.md", "docs/findings*.md", "docs/atlas.md", "docs/papers-scale.md", "docs/reproduction.md"
ARCHIVED = re.compile(r"<!-- claims archived in (?P<file>\S+) -->")
BLOCK = re.compile(
    r"(?P<head><!-- (?P<kind>verdicts|failed|headlines|reproduction)(?P<names>[^>]*?) -->\n)"
    r"(?P<body>.*?)(?=<!-- end -->)",
    re.DOTALL,
)
PAPERS_SCALE = ROOT / "resources/archive/paper/claims.csv"


def untrue_titles(figures, table):
    """What is wrong with titles of {figure: entry} that state claims, in words."""
    stated = ((name, entry.get("rests_on", ())) for name, entry in figures.items())
    return [f"figures.{name}: {one}" for name, claims in stated for one in not_held(claims, table)]


def not_held(claims, table):
    """Those of some claims that do not hold, with their verdicts, in words."""
    verdicts = dict(zip(table["claim"].values.tolist(), table["verdict"].values.tolist(), strict=True))
    found = ((claim, verdicts.get(claim, "is none")) for claim in claims)
    return [f"{claim} {verdict}" for claim, verdict in found if verdict != "holds"]


def stale(text, table, exactly=False):
    """What numbers and sentences of a page are stale, in words."""
    found = [f"what rests on it: {one}" for stated in STATED.finditer(text)
             for one in not_held(stated["claims"].split(), table)]  # fmt: skip
    for quoted in QUOTED.finditer(text):
        now = current(quoted, table)
        if now is None:
            found.append(f"{quoted['claim']} is no claim")
        elif (quoted[0] != now) if exactly else not _near(quoted, table):
            found.append(f"{_said(quoted[0])} is now {_said(now)} ({quoted['claim']})")
    for block in BLOCK.finditer(text) if exactly else ():
        if block["body"] != TABLES[block["kind"]](table, *block["names"].split()):
            found.append(f"the table of {block['kind']} is another one now")
    return found


def written(text, table):
    """The page with what is found now."""
    text = QUOTED.sub(lambda quoted: current(quoted, table) or quoted[0], text)
    return BLOCK.sub(lambda block: block["head"] + TABLES[block["kind"]](table, *block["names"].split()), text)


def current(quoted, table):
    """What ought to be quoted, in as many digits; None for an unknown claim."""
    ends = _ends(quoted, table)
    if ends is None:
        return None
    text = quoted[0]
    for part, value in reversed(list(zip(("number", "low", "high"), ends, strict=True))):
        if quoted[part] is not None:
            start, end = (place - quoted.start() for place in quoted.span(part))
            text = text[:start] + in_print(value, quoted[part]) + text[end:]
    return text


def in_print(value, like):
    """A number as pages have it, with the digits and the sign of another one."""
    decimals = len(like.partition(".")[2])
    digits = f"{abs(value):.{decimals}f}"
    bare = digits.removeprefix("0") if digits.startswith("0.") and not like.lstrip("+−").startswith("0.") else digits
    negative = value < 0 and float(digits) != 0
    return ("−" if negative else "+" if like.startswith("+") else "") + bare


def _ends(quoted, table):
    """(statistic, low, high) in the unit that is quoted."""
    names = table["claim"].values.tolist()
    if quoted["claim"] not in names:
        return None
    row, factor = table.isel(claim=names.index(quoted["claim"])), float(quoted["factor"] or 1)
    middle, *ends = (factor * row[key].item() for key in ("statistic", "low", "high"))
    return middle, *sorted(ends)


def _near(quoted, table):
    _, low, high = _ends(quoted, table)
    rounding = 0.51 * 10.0 ** -len(quoted["number"].partition(".")[2])
    return low - rounding <= float(quoted["number"].replace("−", "-")) <= high + rounding


def _said(text):
    return text.partition("<!--")[0]


def verdict_table(table):
    """How many claims of each paper have which verdict, in Markdown."""
    names = list(dict.fromkeys(table["headline_paper"].values.tolist()))
    rows = [(name, table.isel(claim=table["headline_paper"].values == name)) for name in names] + [("all", table)]
    best_first = ORDER[::-1]
    body = [[name, sum(counts(part).values()), *(counts(part)[verdict] for verdict in best_first), part.sizes["claim"]]
            for name, part in rows]  # fmt: skip
    return tabulate(body, headers=["claims of", "", *best_first, "checks"], tablefmt="github") + "\n"


def failed_table(table):
    """Claims that fail, with the checks that do, in Markdown."""
    lines = ["| paper | claim | checks that fail | of |", "|---|---|---|---|"]
    rows = table.to_dataframe().reset_index()
    for _, checks in rows[rows["headline_verdict"] == "fails"].groupby("headline", sort=False):
        failing, first = checks.loc[checks["verdict"] == "fails", "claim"], checks.iloc[0]
        lines.append(f"| {first.headline_paper} | {first.sentence} | {', '.join(failing)} | {len(checks)} |")
    return "\n".join(lines) + "\n"


def headline_table(table, *names):
    """Verdicts of some claims in this table and at the papers' scale, in Markdown."""
    scales = [one.to_dataframe().drop_duplicates("headline").set_index("headline")
              for one in (table, archived(PAPERS_SCALE))]  # fmt: skip
    lines = ["| paper | claim | small | papers' scale |", "|---|---|---|---|"]
    for name in names:
        said = next(scale.loc[name] for scale in scales if name in scale.index)
        verdicts = [scale["headline_verdict"].get(name, "") for scale in scales]
        verdicts = ["open" if verdict == "undecided" else verdict for verdict in verdicts]
        lines.append(" | ".join(["| " + said.headline_paper, said.sentence, *verdicts]) + " |")
    return "\n".join(lines) + "\n"


def reproduction_index(table, paper):
    """The index of a paper at the papers' scale, with the small pictures of docs/, in Markdown."""
    rows = table.to_dataframe().drop_duplicates("headline")
    found = {row.headline: {"statement": row.sentence, "verdict": row.headline_verdict} for row in rows.itertuples()}
    config = configured("config/config.yaml", "config/paper.yaml")
    items = reproduction.items(config["papers"][paper], config, found)
    command = "snakemake results/paper/figures/{}.png --configfile config/paper.yaml"
    return reproduction.section(items, "pictures/papers", command)


TABLES = {"verdicts": verdict_table, "failed": failed_table, "headlines": headline_table,
          "reproduction": reproduction_index}  # fmt: skip


def archive(table, path):
    """Write a table of claims as text."""
    if "adjusted_p_value" not in table:
        sys.exit(f"{path}: only the table of all claims is archived, claims.nc, not one group of them.")
    archived_claims.write(table, path)


def archived(path):
    """An archived table of claims."""
    return archived_claims.read(path).rename_axis("row").to_xarray().swap_dims(row="claim").drop_vars("row")


def main(*words):
    if words[:1] == ("--archive",):
        if len(words) != 3:
            return "--archive takes a table of claims and the file that it is written to."
        return archive(store.load(Path(words[1])), Path(words[2]))
    wrong = of_archived_tables()
    table = None
    if "--archived" not in words:
        table = store.load(ROOT / "results/claims.nc")
        wrong += untrue_titles(configured("config/config.yaml")["figures"], table)
    for page in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
        text = page.read_text(encoding="utf-8")
        own = ARCHIVED.search(text)
        claims = archived(ROOT / own["file"]) if own else table
        if claims is None:
            continue
        if "--write" in words:
            page.write_text(text := written(text, claims), encoding="utf-8")
        wrong += [f"{page.name}: {one}" for one in stale(text, claims, bool(own) or "--exactly" in words)]
    return "\n".join(wrong) or 0


def of_archived_tables():
    """What is wrong, in words, with titles of the configurations that name an archive, and with its claims."""
    wrong = []
    for overlay in sorted((ROOT / "config").glob("*.yaml")):
        if folder := files.read(overlay, overlay.name).get("archive"):
            config, table = configured("config/config.yaml", f"config/{overlay.name}"), ROOT / folder / "claims.csv"
            found = unlike(config, archived(table)) if table.is_file() else [f"{folder} has no table of claims"]
            wrong += [f"{overlay.name}: {one}" for one in found]
    return wrong


def unlike(config, table):
    """Where archived claims are not of the groups of their configuration, and its titles not theirs, in words."""
    made = table["claim"].values.tolist()
    archived_groups, groups = {name.partition("/")[0] for name in made}, config["claims"].keys()
    gone = [f"claims.{group} are archived, and not made" for group in sorted(archived_groups - groups)]
    lacking = [f"claims.{group} are made, and not archived" for group in sorted(groups - archived_groups)]
    return [*gone, *lacking, *untrue_titles(config["figures"], table)]


@cache
def configured(*names):
    return startup.valid_sweep(project.configuration([str(ROOT / name) for name in names]), ROOT).config


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
