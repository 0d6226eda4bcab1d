"""The records under a folder of results, and where a figure came from: the tree of what it was made of."""

import hashlib
import json
import re
from contextlib import suppress
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import job_record, store


def all_records(results):
    """{name: record} of all results under a folder; a name is the path in the record.

    Results that were moved or copied as a whole keep their names. Raises UserError where a record is damaged.
    """
    if not Path(results).is_dir():
        raise UserError(f"{results} is no folder: name the one with the results")
    found = {}
    for path in sorted(Path(results).rglob("*.json")):
        with store.regular(path) as file:
            if b'"carryover_record"' not in file.read(100):  # keys are sorted, so every record begins with this one
                continue
        record, end = job_record.read(path), path.relative_to(results).with_suffix("").parts
        found |= {name: record for name in record["outputs"] if Path(name).parts[-len(end) :] == end}
    return found


def upstream(name, records):
    """{name: record} of a result and of all that it was made of, by {name: record} of all results."""
    found, todo = {}, [name]
    while todo:
        if (one := todo.pop()) in records and one not in found:
            found[one] = records[one]
            todo += records[one]["inputs"]
    return found


def jobs(records):
    """One record of each job: a figure's formats are outputs of one."""
    return list({tuple(sorted(record["outputs"])): record for record in records}.values())


def commits(records):
    """Commits of the code, `<commit> with changes` where tracked files differed, sorted; none outside a repository."""
    states = {(record["git"]["commit"], record["git"]["dirty"]) for record in records if record["git"]}
    return [commit + (" with changes" if dirty else "") for commit, dirty in sorted(states)]


def carried_request(path):
    """(digest, text) of the request that a figure, a table or a page carries; ("", "") where it carries none.

    The text is JSON in the metadata of a figure alone: plain in PNG, escaped in PDF. It is empty where it does not have
    that digest.
    """
    with store.regular(path) as file:
        content = file.read().decode("latin-1")
    if not (found := re.search(f"{job_record.NOTE}([0-9a-f]{{64}})", content)):
        return "", ""
    for text in (content, re.sub(r"\\(.)", r"\1", content)):
        with suppress(ValueError):
            start = text.index('{"code":')
            request = text[start : json.JSONDecoder().raw_decode(text, start)[1]]
            if hashlib.sha256(request.encode()).hexdigest() == found[1]:
                return found[1], request
    return found[1], ""


def find(path, known):
    """Find a figure among the results `known`, {name: record}.

    Returns (digest and text of the request that it carries, the result with its bytes or else with its request, how it
    was found). Raises UserError for a file that is missing.
    """
    sha256 = store.sha256(path)
    request, text = carried_request(path)
    for name, record in known.items():
        if record["outputs"][name]["sha256"] == sha256:
            return request, text, name, "by its bytes"
    for name, record in known.items():
        if record["request"] == request and Path(name).suffix == Path(path).suffix.lower():
            return request, text, name, "by its request alone: it was altered, or drawn with other software"
    return request, text, "", ""


def tree(name, known):
    """Lines of text: a result and, indented below it, all that it was made of, each with its record's digest.

    `known` is {name: record} of all results.
    """
    shown = set()

    def lines(name, sha256, depth):
        """Of one result, which had the hash `sha256` when it was read for the one above; None at the root."""
        indent, record = "  " * depth, known.get(name)
        if record is None:
            yield f"{indent}{name}: sha256 {sha256[:12]}, not made here"
            return
        remark = "" if sha256 in (None, record["outputs"][name]["sha256"]) else "; MADE ANEW since it was read here"
        if name in shown:
            yield f"{indent}{name}: see above{remark}"
            return
        shown.add(name)
        digest, code = job_record.record_digest(record), record["code"]["digest"]
        parts = [record["rule"], f"record {digest[:12]}", f"code {code[:12]}"]
        if seeds := record["seeds"]:
            few = len(seeds) < 9
            parts.append(f"seeds {', '.join(map(str, seeds))}" if few else f"{len(seeds)} seeds from {seeds[0]}")
        parts += [f"commit {commit[:12]}{commit[40:]}" for commit in commits([record])]
        yield f"{indent}{name}: {', '.join(parts)}{remark}"
        for path, facts in record["inputs"].items():
            yield from lines(path, facts["sha256"], depth + 1)

    return lines(name, None, 0)
