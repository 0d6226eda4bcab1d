"""Notes in a record that a difference which `audit` found is harmless: added, never changed."""

from datetime import UTC, datetime

from carryover import provenance, store
from carryover.errors import UserError


def accepted(record):
    """{(verdict, cause, found): reason} of what the notes of a record accept.

    `found` is the digest of what stood there, so that a further change is no longer what was accepted.
    """
    return {
        (cause["verdict"], cause["cause"], cause["found"]): note["reason"]
        for note in record.get("notes", [])
        for cause in note["causes"]
    }


def refusal(path, finding, reason):
    """Why a finding (None: there is no such artefact) cannot be accepted, in one sentence; None if it can."""
    if not reason.strip():
        return "--reason is empty: say why the difference is harmless"
    if finding is None:
        return f"{path} is no result that this audit knows: name a file below the results folder"
    if finding.verdict in ("MISSING", "UNRECORDED"):
        return f"{path} is {finding.verdict}: {finding.cause}; only what has a record and a result can be accepted"
    if finding.verdict == "DOWNSTREAM-OF":
        return f"{path} is {finding.verdict} {finding.cause}: accept what is upstream"
    if not finding.causes:
        return f"{path} is OK: there is nothing to accept"
    return None


def accept(findings, reason, paths):
    """Add to the record of each of these results a note that accepts its causes, as they are found now.

    `findings` is {path: Finding}, as from `verdicts.judge`. Raises UserError, before anything is written, for an empty
    reason, a result without record, and one that is OK or whose cause is upstream of it.
    """
    for path in paths:
        if why := refusal(path, findings.get(path), reason):
            raise UserError(why)
    for path in paths:
        file = provenance.record_path(path)
        record = provenance.read(file)
        causes = [{"verdict": c.verdict, "cause": c.text, "found": c.found} for c in findings[path].causes]
        note = {"reason": reason.strip(), "date": datetime.now(UTC).isoformat(timespec="seconds"), "causes": causes}
        with store.atomic(file) as temporary:
            changed = {**record, "notes": [*record.get("notes", []), note]}
            temporary.write_text(provenance.as_text(changed), encoding="utf-8")
