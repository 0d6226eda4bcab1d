"""Notes in a record that a difference which `audit` found is harmless: added, never changed.

Each has, as its `link`, the SHA-256 over the note before it and its own text, so that all depend on the first.
"""

from datetime import UTC, datetime
from itertools import pairwise

from carryover.errors import UserError
from carryover.provenance import job_record, writing


def intact(record):
    """Whether the notes of a record are those that `accept` added; of notes without a link nothing can be said."""
    pairs = pairwise([{}, *record.get("notes", [])])
    return all(note.get("link") == _link(before, note) for before, note in pairs if "link" in before | note)


def digest(record):
    """SHA-256 over all notes of a record: whoever has written it down sees that a chain was written anew."""
    return job_record.json_digest(record.get("notes", []))


def _link(before, note):
    text = {key: value for key, value in note.items() if key != "link"}
    return job_record.json_digest([before, text])


def accepted(record):
    """{(verdict, cause, found): reason} of what the notes of a record accept; nothing, if they are not `intact`.

    `found` is the digest of what stood there, so that a further change is no longer what was accepted.
    """
    trusted = record.get("notes", []) if intact(record) else []
    return {
        (cause["verdict"], cause["cause"], cause["found"]): note["reason"]
        for note in trusted
        for cause in note["causes"]
    }


def refusal(path, finding, reason):
    """Why a finding (None: there is no such artefact) cannot be accepted, in one sentence; None if it can."""
    if not reason.strip():
        return "--reason is empty: say why the difference is harmless"
    if finding is None:
        return f"{path} is no result that this audit knows: name a file below the results folder"
    if finding.verdict in ("MISSING", "UNRECORDED", "UNREADABLE"):
        return f"{path} is {finding.verdict}: {finding.cause}; only what has a record and a result can be accepted"
    if finding.verdict == "DOWNSTREAM-OF":
        return f"{path} is {finding.verdict} {finding.cause}: accept what is upstream"
    if not finding.causes:
        return f"{path} is OK: there is nothing to accept"
    return None


def accept(findings, reason, paths):
    """Add to the record of each of these results a note that accepts its causes, as they are found now.

    `findings` is {path: Finding}, as from `verdicts.judge`. Raises UserError, before anything is written, for an empty
    reason, a result without record, one that is OK or whose cause is upstream of it, and edited notes.
    """
    records = {}
    writing.refuse_other_than_utf8(reason)
    for path in paths:
        if why := refusal(path, findings.get(path), reason):
            raise UserError(why)
        records[path] = job_record.read(job_record.record_path(path))
        if not intact(records[path]):
            raise UserError(f"the notes of {path}.json have been edited: put back what stood there, or run again")
    for path, record in records.items():
        causes = [{"verdict": c.verdict, "cause": c.text, "found": c.digest} for c in findings[path].causes]
        note = {"reason": reason.strip(), "date": datetime.now(UTC).isoformat(timespec="seconds"), "causes": causes}
        notes = record.get("notes", [])
        note["link"] = _link(notes[-1] if notes else {}, note)
        with writing.atomic(job_record.record_path(path)) as temporary:
            temporary.write_text(job_record.as_text({**record, "notes": [*notes, note]}), encoding="utf-8")
