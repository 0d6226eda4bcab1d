"""Where a figure came from: what it carries, which result it is, and the tree of what that was made of."""

from pathlib import Path

from carryover.provenance import figure_metadata, job_record, store


def find(path, known):
    """Find a figure among results.

    Parameters
    ----------
    path
        PNG, SVG or PDF.
    known
        {name: `record_index.Made`} of the results.

    Returns
    -------
    request, text
        Digest and text of the request that the figure carries; empty where it carries none.
    result
        The result with its bytes, or else with its request; None where there is none.
    by
        How the result was found.

    Raises
    ------
    UserError
        For a file that is missing, of another format or damaged.
    """
    digest = store.sha256(path)
    request, text = figure_metadata.read(path)
    same = [one for one in known.values() if one.facts["sha256"] == digest]
    if same:
        return request, text, same[0], "by its bytes"
    suffix = Path(path).suffix.lower()
    asked = [one for one in known.values() if one.record["request"] == request and one.file.suffix == suffix]
    by = "by its request alone: it was altered, or drawn with other software"
    return request, text, asked[0] if asked else None, by if asked else ""


def tree(result, known):
    """Lines of text: a result and, indented below it, all that it was made of, each with the digest of its record."""
    return list(_branch(result.name, None, known, 0, set()))


def _branch(name, sha256, known, depth, seen):
    """`sha256` is the hash of `name` when it was read; None for the result at the root."""
    indent, result = "  " * depth, known.get(name)
    if result is None:
        yield f"{indent}{name}: sha256 {sha256[:12]}, not made here"
        return
    remark = "" if sha256 in (None, result.facts["sha256"]) else "; MADE ANEW since it was read here"
    if name in seen:
        yield f"{indent}{name}: see above{remark}"
        return
    seen.add(name)
    yield f"{indent}{name}: {_line(result.record)}{remark}"
    for path, facts in result.record["inputs"].items():
        yield from _branch(path, facts["sha256"], known, depth + 1, seen)


def _line(record):
    parts = [record["rule"], f"record {job_record.record_digest(record)[:12]}", f"code {record['code']['digest'][:12]}"]
    if seeds := record["seeds"]:
        parts.append(f"seeds {', '.join(map(str, seeds))}" if len(seeds) < 9 else f"{len(seeds)} seeds from {seeds[0]}")
    if git := record["git"]:
        parts.append(f"commit {git['commit'][:12]}{' with changes' if git['dirty'] else ''}")
    return ", ".join(parts)
