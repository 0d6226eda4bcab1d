"""The findings of an audit for people (text, HTML) and for programs (JSON)."""

import json
from collections import Counter
from dataclasses import asdict

from carryover.audit.verdicts import VERDICTS
from carryover.templates.rendering import rendered

_KINDS = dict.fromkeys((*VERDICTS, "DIFFERS", "FAILED"), "bad") | dict.fromkeys(("OK", "SAME", "ROUNDED"), "good")
"""Classes of the page, by verdict."""


def passed(findings, strict=False):
    """Whether all results are OK, or STALE by software alone unless `strict`."""
    return all(one.verdict == "OK" or (one.warning and not strict) for one in findings)


def ordered(findings):
    """The findings, worst first."""
    return sorted(findings, key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))


def summary(findings):
    """One sentence: how many results have which verdict."""
    counts = Counter(finding.verdict for finding in findings)
    archived = sum(bool(finding.remarks) for finding in findings)
    said = f", {archived} of them archived" if archived else ""
    if counts.keys() <= {"OK"}:
        return f"All {counts['OK']} results are OK{said}." if counts else "There is nothing to audit."
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return f"Of {len(findings)} results: {listed}{said}."


def remarks(audit):
    """Sentences on what was passed over, and the root digest."""
    if audit.chain.others:
        yield f"Passed over, as another configuration's: {', '.join(audit.chain.others)}."
    yield f"Root digest of {len(audit.chain.lasting)} records: {audit.chain.root}"


def text(findings):
    """A table, worst first, of all results that are not OK, and of archived ones."""
    shown = [finding for finding in ordered(findings) if finding.verdict != "OK" or finding.remarks]
    widths = [max((len(getattr(f, column)) for f in shown), default=0) for column in ("verdict", "path")]
    return "".join(f"{f.verdict:<{widths[0]}}  {f.path:<{widths[1]}}  {_why(f)}".rstrip() + "\n" for f in shown)


def as_json(audit, replays, strict):
    """Everything, as JSON text."""
    findings = ordered(audit.findings.values())
    parts = {
        "passed": passed(findings, strict) and all(one.kept for one in replays),
        "root": audit.chain.root,
        "verdicts": Counter(finding.verdict for finding in findings),
        "results": [asdict(finding) for finding in findings],
        "passed_over": audit.chain.others,
        "replays": [asdict(replay) for replay in replays],
    }
    return json.dumps(parts, indent=1, ensure_ascii=False) + "\n"


def as_html(audit, replays):
    """Everything, as one HTML page that needs no other file."""
    findings = ordered(audit.findings.values())
    return rendered(
        "audit.html.j2",
        said=[summary(findings), *remarks(audit)],
        findings=[(one.verdict, one.path, one.rule, _why(one)) for one in findings],
        replays=[(one.verdict, one.path, one.promise, "; ".join((one.text, *one.place))) for one in replays],
        kinds=_KINDS,
        note="",
    )


def _why(finding):
    """Cause and remarks in one line."""
    return "; ".join(part for part in (finding.cause, *finding.remarks) if part)
