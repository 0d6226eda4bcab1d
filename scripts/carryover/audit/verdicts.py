"""One verdict on each artefact, with its cause by name."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from carryover.audit import notes, rules
from carryover.audit.software import Software
from carryover.errors import UserError
from carryover.provenance import figure_metadata, job_record, meaning, trace
from carryover.workflow import startup

# Worst first; the worst of an artefact's causes is its verdict.
VERDICTS = (
    "ALTERED",
    "UNRECORDED",
    "MISSING",
    "UNREADABLE",
    "STALE-INPUT",
    "STALE-CODE",
    "STALE-CONFIG",
    "DOWNSTREAM-OF",
    "STALE-ENV",
    "OK",
)
WARNING = "STALE-ENV"
ARCHIVED = "archived, made at commit"
NAMED = 3  # of what an artefact is downstream of


@dataclass(frozen=True)
class Cause:
    """Why an artefact is not OK: `text` names what differs, `digest` is that of what stands there now."""

    verdict: str
    text: str
    digest: str = ""


@dataclass(frozen=True)
class Finding:
    """The verdict on one artefact: `causes` are all that are wrong with itself, `cause` is what the verdict rests on.

    `accepted` are the causes that notes in its record accept; the verdict does not count them. `reencoded` are files,
    itself or inputs that are no artefacts, that have other bytes than its record says, and the same content.
    """

    path: str
    rule: str
    verdict: str
    cause: str
    causes: Sequence[Cause] = ()
    remarks: Sequence[str] = ()
    accepted: Sequence[Cause] = ()
    reencoded: Sequence[str] = ()


def judge(chain, root, software=None):
    """{path: Finding} of every artefact of a `Chain`, of the project in the folder `root`.

    What is wrong with an artefact itself comes before what is wrong upstream of it; STALE-ENV, which is a warning,
    does not go downstream. Raises UserError where records name each other as inputs, and for code that cannot be read.
    """
    judged = _Judge(chain, rules.read(Path(root, "rules")), software or Software(root))
    known = set(chain.paths)
    graph = {path: [name for name in chain.inputs(path) if name in known] for path in chain.paths}
    try:
        for path in TopologicalSorter(graph).static_order():
            judged.add(path)
    except CycleError as error:
        raise UserError(f"records name each other as inputs: {', '.join(error.args[1])}") from None
    return judged.findings


class _Judge:
    def __init__(self, chain, rules, software):
        self.chain, self.rules, self.software = chain, rules, software
        self.findings, self.sources = {}, {}  # sources: what the trouble of a path comes from

    def add(self, path):
        """The finding on a path, all that is upstream of it having been judged."""
        record = self.chain.records.get(path, {})
        rule = self.chain.jobs[path][0] if path in self.chain.jobs else record.get("rule", "")
        reencoded = [name for name, known in self._files(path, record) if self.chain.reencoded(name, known)]
        remarks = [f"re-encoded: other bytes, same content{f' of {f}' * (f != path)}" for f in reencoded]
        if archived := self.chain.archived(path):
            remarks.append(f"{ARCHIVED} {archived['commit'][:12]}")
        causes, accepted, reasons = [], [], notes.accepted(record)
        for cause in self._causes(path):
            reason = reasons.get((cause.verdict, cause.text, cause.digest))
            if reason is None:
                causes.append(cause)
            else:
                accepted.append(cause)
                remarks.append(f"accepted: {reason} ({cause.verdict}: {cause.text})")
        above = sorted({source for name in self.chain.inputs(path) for source in self.sources.get(name, ())})
        verdicts = {cause.verdict for cause in causes} | ({"DOWNSTREAM-OF"} if above else set())
        verdict = min(verdicts or {"OK"}, key=VERDICTS.index)
        if verdict not in ("OK", WARNING):
            self.sources[path] = above if verdict == "DOWNSTREAM-OF" else [path]
        texts = [cause.text for cause in causes if cause.verdict == verdict]
        if verdict == "DOWNSTREAM-OF":
            texts = above[:NAMED] + ([f"and {len(above) - NAMED} more"] if len(above) > NAMED else [])
        details = map(tuple, (causes, remarks, accepted, reencoded))
        self.findings[path] = Finding(path, rule, verdict, "; ".join(texts), *details)

    def _files(self, path, record):
        """(file, what the record says of it) of an artefact and of those inputs that have no finding of their own."""
        if path in record.get("outputs", {}):
            yield path, record["outputs"][path]
        yield from ((name, known) for name, known in self.chain.inputs(path).items() if name not in self.findings)

    def _causes(self, path):
        """What is wrong with an artefact itself."""
        chain, record = self.chain, self.chain.records.get(path)
        made = path in chain.jobs
        if path in chain.unreadable:
            yield Cause("UNREADABLE", chain.unreadable[path])
            return
        if chain.hashes[path] is None:
            yield Cause("MISSING", "no file" + ("" if made else ", and no job makes it: its record alone is there"))
            return
        if record is None:
            yield Cause(
                "UNRECORDED", chain.problems.get(path) or "no record" + ("" if made else ", and no job makes it")
            )
            return
        yield from self._altered(path, record)
        if not made:
            yield Cause("STALE-CONFIG", "no job makes it any more")
            return
        if archived := chain.archived(path):  # whatever code made it
            if chain.hashes[path] != archived["unpacked"]["sha256"]:
                yield Cause("ALTERED", "it is not the archived dataset", chain.hashes[path])
            return
        yield from self._stale_inputs(path)
        yield from self._stale_code(path, record)
        yield from self._stale_configuration(path, record)
        rule = self.rules.get(record["rule"])
        for text in self.software.differences(record["environment"], rule and rule.environment):
            yield Cause(WARNING, text)

    def _altered(self, path, record):
        known, digest = record["outputs"][path], self.chain.hashes[path]
        if not self.chain.same(path, known):
            yield Cause("ALTERED", f"sha256 {known['sha256'][:12]}…, now {digest[:12]}…", digest)
        elif text := _imprint(path, record):
            yield Cause("ALTERED", text, digest)
        yield from self._edited(path, record)

    def _edited(self, path, record):
        """What in a record does not fit the rest of it, or the file that it describes."""
        known, digest = record["outputs"][path], self.chain.hashes[path]
        request, checksum = job_record.request_digest(record), job_record.checksum(record)
        size = os.path.getsize(path)
        if request != record["request"]:
            yield Cause("ALTERED", f"{path}.json has been edited: it is not what its request says", request)
        if checksum != record.get("checksum", checksum):  # records were without one once
            yield Cause("ALTERED", f"{path}.json has been edited: it is not what its checksum says", checksum)
        if digest == known["sha256"] and size != known["bytes"]:
            text = f"{path}.json has been edited: bytes {known['bytes']}, and there are {size}"
            yield Cause("ALTERED", text, str(size))
        if not notes.intact(record):
            yield Cause("ALTERED", f"the notes of {path}.json have been edited", notes.digest(record))

    def _stale_inputs(self, path):
        for name, known in self.chain.inputs(path).items():
            digest = self.chain.hashes[name]
            # Where an input is itself in trouble, that is the cause.
            if name not in self.sources and not self.chain.same(name, known):
                said = "is missing" if digest is None else "is not the one it was made of"
                yield Cause("STALE-INPUT", f"{name} {self.chain.unreadable.get(name, said)}", digest or "")

    def _stale_code(self, path, record):
        if other := startup.other_definition(record):
            yield Cause("STALE-CODE", other, str(meaning.DEFINITION))
            return
        rule, wildcards = self.chain.jobs[path]
        files, digest = self.chain.code(path), self.chain.made.code(rule)(wildcards)
        changed = startup.changed_files(files, record)
        yield from (Cause("STALE-CODE", f"scripts/{file} has changed", files.get(file, "")) for file in changed)
        forged = sorted(self.software.forged & files.keys())
        yield from (Cause("STALE-CODE", f"the bytecode of scripts/{file} is not that of its source") for file in forged)
        if not changed and record["code"]["digest"] != digest:
            yield Cause("STALE-CODE", "the code's digest is not that of the files that the record names", digest)

    def _stale_configuration(self, path, record):
        rule, wildcards = self.chain.jobs[path]
        text, made = self.rules.get(rule), self.chain.made
        now = startup.words(made, rule, wildcards)
        given = text.flags if text else startup.GIVEN_BY_RULES
        changes = list(startup.changed_parameters(made, rule, wildcards, record, given))
        if text is None:
            changes.append(f"no rule {rule} that only runs a script can be read in rules/")
        elif not changes and (change := text.difference(record["command"], wildcards)):
            changes = [f"{text.file} has another command: {change}"]
        digest = job_record.json_digest([now, [text.before, text.words, text.after] if text else []])
        yield from (Cause("STALE-CONFIG", change, digest) for change in changes)


def _imprint(path, record):
    """In words, what a figure carries that is not the request of its record; None where it is, and for other files."""
    if Path(path).suffix not in figure_metadata.KEYS:
        return None
    try:
        carried = trace.read_imprint(path)
    except UserError as error:
        return str(error)
    if carried == (record["request"], job_record.request_text(record)):
        return None
    return "it carries " + (f"another request, {carried[0][:12]}…, than its record has" if carried else "no request")
