"""Whether pages say what the archived claims and the records say: `python tools/findings.py [--write | --results]`.

Pages are README.md, CONTRIBUTING.md and those of docs/ and config/. A page with `<!-- claims archived in FILE -->`
quotes that table of claims. There a comment after a number names the claim whose statistic it is, `+3.5 [1.7,
5.3]<!--convnet_rescaling/resnet_pairs*100-->`, and one after a sentence names claims that must hold,
`<!-- supported by linear_transfer/positive -->`. On every page a comment can name a record and a key instead,
`4.8<!--tools/small_scale.json clock/60-->`. Digits are compared as they stand. Tables end with `<!-- end -->`: verdicts
of some claims begin with `<!-- headlines NAME … -->`, links from the items of a paper to our figures and data with
`<!-- reproduction PAPER -->`. --write puts what is found in the place of what is there.

Titles of figures are compared as well: their `supported_by` names claims, which must hold in the archive, and with
--results in results/claims.nc, with which the verdicts in tools/small_verdicts.json are compared as well.

`--site` prints, as JSON, the pages that have more on the site than in the repository: the index with pictures and
verdicts, and the tables `<!-- verdicts -->`, `<!-- failed -->` and `<!-- undecided -->`. `--archive TABLE.nc FILE.csv`
writes a table of claims as text.
"""

import json
import math
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from scipy.stats import norm  # noqa: E402
from tabulate import tabulate  # noqa: E402

from carryover.claims.support import table as claims_table  # noqa: E402
from carryover.claims.support.table import ORDER  # noqa: E402
from carryover.config import files  # noqa: E402
from carryover.provenance import store  # noqa: E402
from carryover.report.page import reproduction_items  # noqa: E402
from carryover.statistics.intervals import LEVEL  # noqa: E402
from carryover.workflow import startup  # noqa: E402

MANY = 1000  # seeds, of which nobody trains more
PAGES = "README.md", "CONTRIBUTING.md", "config/README.md", "docs/*.md"
ARCHIVE = ROOT / "resources/archive/paper"
SMALL = ROOT / "tools/small_verdicts.json"  # of the claims in README
NUMBER = r"[+−]?(?:\d[\d,]*(?:\.\d+)?|\.\d+)"
QUOTED = re.compile(
    rf"(?P<number>{NUMBER})(?:\s+\[(?P<low>{NUMBER}),\s+(?P<high>{NUMBER})\])?(?P<unit>\s?%|\s+[a-z-]+)?"
    r"<!--(?:(?P<record>\S+\.json) (?P<key>\w+)|(?P<claim>\w+/[\w.]+))(?:(?P<sign>[*/])(?P<factor>-?[\d.]+))?-->"
)
MARK = re.compile(r"<!--\s*[\w.]*/[^>]+-->|<!--\s*\S+\.json [^>]+-->")
STATED = re.compile(r"<!-- supported by (?P<claims>[^>]*?) -->")
ARCHIVED = re.compile(r"<!-- claims archived in (?P<file>\S+) -->")
BLOCK = re.compile(
    r"(?P<head><!-- (?P<kind>headlines|reproduction) (?P<names>[^>]*?) -->\n)(?P<body>.*?)(?=<!-- end -->)", re.DOTALL
)
SITE = re.compile(
    r"<!-- (?P<kind>verdicts|failed|undecided|reproduction)(?P<names>[^>]*?) -->\n(?:[^<]*?<!-- end -->)?"
)


def stale(text, table):
    """What numbers, sentences and tables of a page are stale, in words.

    Parameters
    ----------
    text : str
        The page.
    table : pandas.DataFrame or None
        The claims that it quotes, a check in each row, by `claim`.
    """
    stated = STATED.finditer(text) if table is not None else ()
    found = [f"what rests on it: {one}" for sentence in stated
             for one in not_held(sentence["claims"].split(), table)]  # fmt: skip
    read = {quoted.end() for quoted in QUOTED.finditer(text)}
    found += [f"no number stands before {mark[0]}" for mark in MARK.finditer(text) if mark.end() not in read]
    for quoted in QUOTED.finditer(text):
        now = current(quoted, table)
        if now != quoted[0]:
            said, now = (one and one.partition("<!--")[0] for one in (quoted[0], now))
            source = quoted["claim"] or quoted["record"]
            found.append(f"{said} is now {now} ({source})" if now else f"{source} is not known")
    for block in BLOCK.finditer(text):
        if block["body"] != COMMITTED[block["kind"]](table, *block["names"].split()):
            found.append(f"the table of {block['kind']} is another one now")
    return found


def written(text, table):
    """The page with what is found now."""
    text = QUOTED.sub(lambda quoted: current(quoted, table) or quoted[0], text)
    return BLOCK.sub(lambda block: block["head"] + COMMITTED[block["kind"]](table, *block["names"].split()), text)


def current(quoted, table):
    """What ought to be quoted, in as many digits; None for an unknown claim or key."""
    if quoted["record"]:
        record = json.loads((ROOT / quoted["record"]).read_text())
        values = [record.get(quoted["key"])]
    else:
        known = table is not None and quoted["claim"] in table.index
        values = table.loc[quoted["claim"], ["statistic", "low", "high"]].tolist() if known else [None]
    if values[0] is None:
        return None
    factor = float(quoted["factor"] or 1)
    middle, *ends = (value / factor if quoted["sign"] == "/" else value * factor for value in values)
    text = quoted[0]
    for part, value in reversed(list(zip(("number", "low", "high"), (middle, *sorted(ends)), strict=False))):
        if quoted[part] is not None:
            start, end = (place - quoted.start() for place in quoted.span(part))
            text = text[:start] + in_print(value, quoted[part]) + text[end:]
    return text


def in_print(value, like):
    """A number as pages have it, with the digits and the sign of another one."""
    decimals = len(like.partition(".")[2])
    digits = f"{abs(value):,.{decimals}f}"
    bare = digits.removeprefix("0") if digits.startswith("0.") and not like.lstrip("+−").startswith("0.") else digits
    negative = value < 0 and float(digits.replace(",", "")) != 0
    return ("−" if negative else "+" if like.startswith("+") else "") + bare


def not_held(claims, table):
    """Those of some claims that do not hold, with their verdicts, in words."""
    found = ((claim, table["verdict"].get(claim, "is not known")) for claim in claims)
    return [f"{claim} {verdict}" for claim, verdict in found if verdict != "holds"]


def headline_table(table, *names):
    """Verdicts of some claims at the papers' scale and, by the record, at the small one, in Markdown."""
    claims, small = table.drop_duplicates("headline").set_index("headline"), json.loads(SMALL.read_text())
    lines = ["| paper | claim | papers' scale | small scale |", "|---|---|---|---|"]
    for name in names:
        paper, sentence, verdict = claims.loc[name, ["headline_paper", "sentence", "headline_verdict"]]
        lines.append(f"| {paper} | {sentence} | {verdict} | {small[name]} |")
    return "\n".join(lines) + "\n"


def reproduction_links(table, paper):
    """Links from the items of a paper to our figures and their archived data, in Markdown."""
    config = configured("config/config.yaml", "config/paper.yaml")
    lines = ["| in the paper | our figures | archived data |", "|---|---|---|"]
    for item in reproduction_items(config["papers"][paper], config, {}):
        shown = [f"[{name}](pictures/papers/{name}.png)" for name in item["figures"]]
        data = [config["comparisons"][name.partition("/")[2]]["data"].values() if name.startswith("comparisons/")
                else [name] for name in item["data"]]  # fmt: skip
        names = dict.fromkeys(name for one in data for name in one)
        links = [f"[{name}](../resources/archive/paper/{name}.nc.xz)" for name in names
                 if (ARCHIVE / f"{name}.nc.xz").is_file()]  # fmt: skip
        if shown:
            lines.append(f"| {item['item']} | {', '.join(shown)} | {', '.join(links)} |")
    return "\n".join(lines) + "\n"


def reproduction_index(table, paper):
    """The index of a paper for the site: pictures, verdicts, what differs, data, commands, in Markdown."""
    rows = table.drop_duplicates("headline").itertuples()
    found = {row.headline: f"- **{row.headline_verdict}**: {row.sentence}" for row in rows}
    config = configured("config/config.yaml", "config/paper.yaml")
    parts = []
    for item in reproduction_items(config["papers"][paper], config, found):
        parts.append(f"### {item['item']}: {item['shows']}")
        parts += [f"[![{name}](pictures/papers/{name}.png)](pictures/papers/{name}.png)" for name in item["figures"]]
        files = " ".join(f"results/paper/figures/{name}.png" for name in item["figures"])
        facts = {
            "What differs": item["differs"],
            "Functions": ", ".join(f"`carryover.{name}`" for name in item["functions"]),
            "Data": ", ".join(f"`{name}`" for name in item["data"]),
            "Draw": f"`snakemake {files} --configfile config/paper.yaml`" if files else "",
        }
        lines = item["claims"] + [f"- {term}: {text}" for term, text in facts.items() if text]
        parts.append("\n".join(lines))
    return "\n\n".join(part for part in parts if part) + "\n"


def verdict_table(table):
    """How many claims of each paper have which verdict, in Markdown."""
    best_first = ORDER[::-1]
    parts = [*table.groupby("headline_paper", sort=False), ("all", table)]
    body = []
    for name, checks in parts:
        verdicts = checks.drop_duplicates("headline")["headline_verdict"]
        body.append([name, len(verdicts), *((verdicts == verdict).sum() for verdict in best_first), len(checks)])
    return tabulate(body, headers=["claims of", "", *best_first, "checks"], tablefmt="github") + "\n"


def failed_table(table):
    """Claims that fail, with the checks that do, in Markdown."""
    lines = ["| paper | claim | checks that fail | of |", "|---|---|---|---|"]
    for _, checks in table[table["headline_verdict"] == "fails"].groupby("headline", sort=False):
        failing, first = checks.index[checks["verdict"] == "fails"], checks.iloc[0]
        lines.append(f"| {first.headline_paper} | {first.sentence} | {', '.join(failing)} | {len(checks)} |")
    return "\n".join(lines) + "\n"


def undecided_table(table):
    """What is open in claims that are undecided, and how many seeds would decide it, in Markdown.

    An interval shrinks with the root of the number of seeds. If the mean stays, a check holds once its interval lies
    in the claimed range; it fails once the interval, at the first level of Holm's correction, lies outside.
    """
    lines = ["| paper | claim | open checks: seeds now → needed | core-hours |", "|---|---|---|---|"]
    for _, checks in table[table["headline_verdict"] == "undecided"].groupby("headline", sort=False):
        found, hours = [], 0.0
        for name, check in checks[checks["verdict"] == "undecided"].iterrows():
            distance = check["statistic"] - check["bound"]
            half = check["statistic"] - check["low"] if distance > 0 else check["high"] - check["statistic"]
            inside = check["claimed_low"] < check["statistic"] < check["claimed_high"]
            level = LEVEL / 2 if inside else LEVEL / 2 / len(checks)
            ratio = half / distance if distance else math.inf  # a mean at the bound decides nothing
            growth = (ratio * norm.isf(level) / norm.isf(LEVEL / 2)) ** 2
            needed, unit = max(growth * check["seeds"], check["seeds"] + 1), check["interval"].rpartition(" over ")[2]
            trained = needed < MANY and unit == "seeds"
            text = f"{needed:.0f}" if needed < MANY else f"over {MANY}"
            if math.isnan(half):  # no seed changes it
                text, unit = "–", "seeds"
            found.append(f"`{name}`: {check['seeds']:g} → {text}{'' if unit == 'seeds' else f' {unit}'}")
            hours = max(hours, core_hours(name.partition("/")[0]) * (growth - 1) if trained else math.inf)
        cost = f"{max(hours, 0.1):.1f}" if hours < math.inf else "–"
        first = checks.iloc[0]
        lines.append(f"| {first['headline_paper']} | {first['sentence']} | {'; '.join(found)} | {cost} |")
    return "\n".join(lines) + "\n"


def core_hours(group):
    """What training all data of a group of checks took, by the records of the archive."""
    config, seconds = configured("config/config.yaml", "config/paper.yaml"), 0.0
    experiments = {name.partition("/")[0] for name in config["claims"][group]["data"].values()}
    for experiment in experiments & config["experiments"].keys():
        record = json.loads(next((ARCHIVE / experiment).glob("*.json")).read_text())
        stages = (record["seconds"].get(stage, {}).values() for stage in ("pretrain", "finetune"))
        seconds += sum(sum(jobs) for points in stages for jobs in points)
    return seconds / 3600


COMMITTED = {"headlines": headline_table, "reproduction": reproduction_links}
ON_SITE = {"verdicts": verdict_table, "failed": failed_table, "undecided": undecided_table,
           "reproduction": reproduction_index}  # fmt: skip


def pages():
    """(Path, text, table of claims or None) of each page."""
    for path in sorted(page for pattern in PAGES for page in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        own = ARCHIVED.search(text)
        yield path, text, claims_table.read(ROOT / own["file"]).set_index("claim") if own else None


def site():
    """{page of docs/: its text on the site} of those that have more there."""
    shown = {}
    for path, text, table in pages():
        if path.parent == ROOT / "docs" and table is not None:
            shown[path.name] = SITE.sub(
                lambda block, table=table: ON_SITE[block["kind"]](table, *block["names"].split()), text)  # fmt: skip
    return shown


def of_archived_tables():
    """What is wrong, in words, with titles of the configurations that name an archive, and with its claims."""
    wrong = []
    for overlay in sorted((ROOT / "config").glob("*.yaml")):
        if folder := files.read(overlay).get("archive"):
            config, table = configured("config/config.yaml", f"config/{overlay.name}"), ROOT / folder / "claims.csv"
            if table.is_file():
                found = unlike(config, claims_table.read(table).set_index("claim"))
            else:
                found = [f"{table} is missing"] if config["claims"] else []
            wrong += [f"{overlay.name}: {one}" for one in found]
    return wrong


def unlike(config, table):
    """Where archived claims are not of the groups of their configuration, and its titles not theirs, in words."""
    archived, groups = {name.partition("/")[0] for name in table.index}, config["claims"].keys()
    gone = [f"claims.{group} are archived, and not made" for group in sorted(archived - groups)]
    lacking = [f"claims.{group} are made, and not archived" for group in sorted(groups - archived)]
    return [*gone, *lacking, *untrue_titles(config["figures"], table)]


def untrue_titles(figures, table):
    """What is wrong with titles of {figure: entry} that state claims, in words."""
    stated = ((name, entry.get("supported_by", ())) for name, entry in figures.items())
    return [f"figures.{name}: {one}" for name, claims in stated for one in not_held(claims, table)]


@cache
def configured(*names):
    return startup.Sweep(startup.configuration([str(ROOT / name) for name in names]), ROOT).config


def main(*words):
    if words[:1] == ("--archive",):
        _, source, target = words
        table = store.load(Path(source))
        if "adjusted_p_value" not in table:
            return f"{source}: only the table of all claims is archived, claims.nc, not one group of them."
        return claims_table.write(table, target)
    if words == ("--site",):
        return print(json.dumps(site()))
    wrong = of_archived_tables()
    if "--results" in words:
        table = store.load(ROOT / "results/claims.nc").to_dataframe()
        wrong += untrue_titles(configured("config/config.yaml")["figures"], table)
        found = table.drop_duplicates("headline").set_index("headline")["headline_verdict"].to_dict()
        if "--write" in words:
            shown = BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))["names"].split()
            SMALL.write_text(json.dumps({name: found.get(name, "–") for name in shown}, indent=1) + "\n")
        recorded = json.loads(SMALL.read_text())
        wrong += [f"{SMALL.name}: {name} is now {found.get(name)}" for name, said in recorded.items()
                  if said != found.get(name, "–")]  # fmt: skip
    for path, text, table in pages():
        if "--write" in words:
            path.write_text(text := written(text, table), encoding="utf-8")
        wrong += [f"{path.name}: {one}" for one in stale(text, table)]
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
