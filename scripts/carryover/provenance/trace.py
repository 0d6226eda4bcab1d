"""Where a figure came from: what it carries, which result it is, and the tree of what that was made of."""

import hashlib
from pathlib import Path
from xml.etree import ElementTree

from carryover.errors import UserError
from carryover.provenance import job_record, store
from carryover.provenance.job_record import HEAD, KEYS


def carried_request(path):
    """(digest, text) of the request that a PNG, SVG or PDF carries; ("", "") where it carries none.

    The text is empty where it does not have that digest: then someone changed one of them. Raises UserError for a file
    of another format, or that is not what its suffix says.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in KEYS:
        raise UserError(f"{path} has the suffix {suffix or 'of nothing'}: it must be one of {', '.join(KEYS)}")
    try:
        if suffix == ".png":
            from PIL import Image

            with Image.open(path) as image:
                image.load()  # text may stand behind the pixels
                fields = [image.info.get(key) for key in KEYS[suffix]]
        elif suffix == ".svg":
            tree, dublin_core = ElementTree.parse(path), "{http://purl.org/dc/elements/1.1/}"
            fields = [tree.findtext(f".//{dublin_core}{key.lower()}") for key in KEYS[suffix]]
        else:
            from pypdf import PdfReader

            found = PdfReader(path).metadata or {}
            fields = [found.get(f"/{key}") for key in KEYS[suffix]]
    except ImportError:
        raise
    except Exception:  # the libraries report damage as OSError, SyntaxError, LookupError, ValueError and more
        raise UserError(f"{path} is no {suffix[1:].upper()}, or damaged: give a whole copy of the figure") from None
    head, text = (str(field or "") for field in fields)
    digest = head.removeprefix(HEAD) if head.startswith(HEAD) else ""
    return digest, text if hashlib.sha256(text.encode()).hexdigest() == digest else ""


def find(path, known):
    """Find a figure, a PNG, SVG or PDF, among the results `known`, {name: `record_index.Made`}.

    Returns (digest and text of the request that it carries, the result with its bytes or else with its request, how it
    was found). Raises UserError for a file that is missing, of another format or damaged.
    """
    digest = store.sha256(path)
    request, text = carried_request(path)
    suffix = Path(path).suffix.lower()
    for one in known.values():
        if one.facts["sha256"] == digest:
            return request, text, one, "by its bytes"
    for one in known.values():
        if one.record["request"] == request and one.file.suffix == suffix:
            return request, text, one, "by its request alone: it was altered, or drawn with other software"
    return request, text, None, ""


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
