"""What an audit found, for people (text, HTML) and for programs (JSON)."""

import html
import json
from collections import Counter
from dataclasses import asdict

from carryover.audit.verdicts import VERDICTS, WARNING

_STYLE = (
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse}"
    "td,th{text-align:left;vertical-align:top;padding:.2em .8em;border-bottom:1px solid #ddd;overflow-wrap:anywhere}"
    ".OK{color:#060}.STALE-ENV{color:#850}.bad{color:#a00}"
)


def passed(findings, strict=False):
    """Whether everything is OK; STALE-ENV counts as OK unless `strict`."""
    return all(finding.verdict == "OK" or (finding.verdict == WARNING and not strict) for finding in findings)


def ordered(findings):
    """The findings, worst first."""
    return sorted(findings, key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))


def summary(findings):
    """One sentence: how many artefacts have which verdict."""
    counts = Counter(finding.verdict for finding in findings)
    if not counts:
        return "There is nothing to audit."
    if counts.keys() == {"OK"}:
        return f"All {counts['OK']} artefacts are OK."
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return f"Of {len(findings)} artefacts: {listed}."


def text(findings):
    """A table, worst first, of all that are not simply OK."""
    shown = [finding for finding in ordered(findings) if finding.verdict != "OK" or finding.remarks]
    widths = [max((len(getattr(f, column)) for f in shown), default=0) for column in ("verdict", "path")]
    return "".join(f"{f.verdict:<{widths[0]}}  {f.path:<{widths[1]}}  {_why(f)}".rstrip() + "\n" for f in shown)


def as_json(findings, root, replays=()):
    """Everything, as JSON text."""
    found = {
        "root": root,
        "verdicts": Counter(finding.verdict for finding in findings),
        "artefacts": [asdict(finding) for finding in ordered(findings)],
        "replays": [asdict(replay) for replay in replays],
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def as_html(findings, root, replays=()):
    """Everything, as one HTML page that needs no other file."""
    rows = [(f.verdict, f.path, f.rule, _why(f)) for f in ordered(findings)]
    parts = [_table(("verdict", "artefact", "rule", "cause"), rows)]
    if replays:
        again = [(r.verdict, r.path, "; ".join((r.text, *r.place))) for r in replays]
        parts += ["<h2>Run again</h2>", _table(("verdict", "job", "comparison"), again)]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Audit</title>'
        f"<style>{_STYLE}</style></head><body>\n<h1>Audit</h1>\n"
        f"<p>{html.escape(summary(findings))}</p>\n<p>Root digest: <code>{html.escape(root)}</code></p>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _table(heads, rows):
    lines = ["<tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"]
    for verdict, *cells in rows:
        kind = verdict if verdict in ("OK", WARNING) else "OK" if verdict == "SAME" else "bad"
        plain = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        lines.append(f'<tr><td class="{kind}">{html.escape(verdict)}</td>{plain}</tr>')
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _why(finding):
    """Cause and remarks in one line."""
    return "; ".join(part for part in (finding.cause, *finding.remarks) if part)
