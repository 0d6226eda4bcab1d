"""The findings of an audit for people (text, HTML) and for programs (JSON)."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from carryover.audit.project import Audit
from carryover.audit.replay import Replay
from carryover.audit.verdicts import ARCHIVED, VERDICTS, WARNING
from carryover.templates.rendering import rendered

# Classes of a page, by verdict; of a replay as well.
_KINDS = dict.fromkeys(VERDICTS, "bad") | {"OK": "good", WARNING: "doubtful"}
_KINDS |= {"SAME": "good", "ROUNDED": "good", "DIFFERS": "bad", "FAILED": "bad"}


@dataclass(frozen=True)
class Outcome:
    """An `audit` with what was asked of it: whether warnings or other bytes fail it, its root, and replays."""

    audit: Audit
    strict: bool = False
    bytewise: bool = False
    asked_root: str | None = None
    replays: Sequence[Replay] = ()

    @property
    def findings(self):
        return list(self.audit.findings.values())

    @property
    def has_asked_root(self):
        """Whether the root digest is the one that was asked for; None where none was."""
        return None if self.asked_root is None else self.asked_root == self.audit.root

    @property
    def passed(self):
        """Whether everything is OK, the root is as asked for, and replays give what they promise."""
        kept = all(one.kept for one in self.replays)
        return passed(self.findings, self.strict, self.bytewise) and self.has_asked_root is not False and kept


def passed(findings, strict=False, bytewise=False):
    """Whether all is OK, as STALE-ENV is unless `strict`, and the same content in other bytes unless `bytewise`."""
    well = {"OK"} if strict else {"OK", WARNING}
    return all(finding.verdict in well and not (bytewise and finding.reencoded) for finding in findings)


def ordered(findings):
    """The findings, worst first."""
    return sorted(findings, key=lambda finding: (VERDICTS.index(finding.verdict), finding.path))


def summary(findings):
    """One sentence: how many artefacts have which verdict, are OK only because a note says so, and are re-encoded."""
    counts = Counter(finding.verdict for finding in findings)
    if not counts:
        return "There is nothing to audit."
    accepted = sum(finding.verdict == "OK" and bool(finding.accepted) for finding in findings)
    by_notes = f", {accepted} of them by an accepted difference" if accepted else ""
    if archived := sum(any(one.startswith(ARCHIVED) for one in finding.remarks) for finding in findings):
        by_notes += f"; {archived} archived"
    if reencoded := sum(bool(finding.reencoded) for finding in findings):
        by_notes += f"; {reencoded} re-encoded, with the recorded content in other bytes"
    if counts.keys() == {"OK"}:
        return f"All {counts['OK']} artefacts are OK{by_notes}."
    listed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return f"Of {len(findings)} artefacts: {listed}{by_notes}."


def remarks(outcome):
    """Sentences on what was left out, on the digests, and on the root that was asked for."""
    audit = outcome.audit
    if audit.chain.others:
        yield f"Passed over, as another configuration's: {', '.join(audit.chain.others)}."
    if audit.chain.crates:
        yield f"Passed over, as exported crates: {', '.join(audit.chain.crates)}."
    if audit.absent:
        yield f"Not installed here, so not compared: {', '.join(audit.absent)}."
    if audit.software.without_hashes:
        yield f"Installed without hashes of their files, so not checked: {', '.join(audit.software.without_hashes)}."
    if not audit.packages:
        yield "Not checked: the files of installed packages, whose versions are compared (--packages checks them)."
    yield f"Root digest of {len(audit.chain.lasting)} records: {audit.root}"
    if audit.notes:
        yield f"Digest of the notes, which the root digest leaves out: {audit.notes}"
    if outcome.has_asked_root is False:
        asked = outcome.asked_root
        yield f"The root digest is not the one that was given, {asked}: a record was changed, added or removed."


def text(findings):
    """A table, worst first, of all that are not simply OK."""
    shown = [finding for finding in ordered(findings) if finding.verdict != "OK" or finding.remarks]
    widths = [max((len(getattr(f, column)) for f in shown), default=0) for column in ("verdict", "path")]
    return "".join(f"{f.verdict:<{widths[0]}}  {f.path:<{widths[1]}}  {_why(f)}".rstrip() + "\n" for f in shown)


def as_json(outcome):
    """Everything, as JSON text."""
    audit, findings = outcome.audit, outcome.findings
    parts = {
        "passed": outcome.passed,
        "strict": outcome.strict,
        "bytes": outcome.bytewise,
        "root": audit.root,
        "asked_root": outcome.asked_root,
        "has_asked_root": outcome.has_asked_root,
        "notes": audit.notes,
        "verdicts": Counter(finding.verdict for finding in findings),
        "artefacts": [asdict(finding) for finding in ordered(findings)],
        "passed_over": [*audit.chain.others, *audit.chain.crates],
        "packages": audit.packages,
        "packages_without_hashes": list(audit.software.without_hashes),
        "not_compared": audit.absent,
        "replays": [asdict(replay) for replay in outcome.replays],
    }
    return json.dumps(parts, indent=1, ensure_ascii=False) + "\n"


def as_html(outcome):
    """Everything, as one HTML page that needs no other file."""
    return rendered(
        "audit.html.j2",
        said=[summary(outcome.findings), *remarks(outcome)],
        findings=[(one.verdict, one.path, one.rule, _why(one)) for one in ordered(outcome.findings)],
        replays=[(one.verdict, one.path, one.promise, "; ".join((one.text, *one.place))) for one in outcome.replays],
        kinds=_KINDS,
        note="",
    )


def _why(finding):
    """Cause and remarks in one line."""
    return "; ".join(part for part in (finding.cause, *finding.remarks) if part)
