"""Where a figure came from: what it carries, which result it is, and the tree of what that was made of."""

import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from carryover.errors import UserError
from carryover.provenance import figure_metadata, job_record, store
from carryover.provenance.record_index import Made

_DUBLIN_CORE = "{http://purl.org/dc/elements/1.1/}"


def read_imprint(path):
    """(digest, text) of the request that a PNG, SVG or PDF carries, see `figure_metadata.carried`; None for none.

    Raises UserError for a file that is missing, of another format, or not what its suffix says, for a PNG with too many
    pixels to be looked at, and where the text has its digest but is no request.
    """
    path = Path(path)
    reader = {".png": _png_fields, ".svg": _svg_fields, ".pdf": _pdf_fields}.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path} has the suffix {path.suffix or 'of nothing'}: it must be one of .png, .svg, .pdf")
    store.sha256(path)  # says what is wrong with a file that cannot be opened
    try:
        carried = figure_metadata.carried(reader(path, figure_metadata.KEYS[path.suffix.lower()]))
    except (UserError, ImportError):
        raise
    except Exception:  # the libraries report damage as OSError, SyntaxError, LookupError, ValueError and more
        kind = path.suffix[1:].upper()
        raise UserError(f"{path} is no {kind}, or damaged: give a whole copy of the figure") from None
    if carried and not _is_request(carried[1]):
        raise UserError(f"{path} carries a text of its digest that is no request: someone else has written it")
    return carried


def _png_fields(path, keys):
    from PIL import Image

    try:
        with Image.open(path) as image:
            image.load()  # text may stand behind the pixels
            return [image.info.get(key) for key in keys]
    except Image.DecompressionBombError:
        raise UserError(f"{path} has too many pixels to be looked at: give a figure as it was drawn") from None


def _svg_fields(path, keys):
    tree = ElementTree.parse(path)
    return [tree.findtext(f".//{_DUBLIN_CORE}{key.lower()}") for key in keys]


def _pdf_fields(path, keys):
    from pypdf import PdfReader

    fields = PdfReader(path).metadata or {}
    return [fields.get(f"/{key}") for key in keys]


def _is_request(text):
    """Whether a text, if there is one, is a JSON object."""
    try:
        return text is None or isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True)
class Origin:
    """What is known of a figure: what it carries (digest, text), which result it is, and by what that is seen."""

    carried: tuple[str, str | None] | None
    result: Made | None
    by: str

    @property
    def contradicts(self):
        """Whether it looks like a result, but carries the request of another."""
        return None not in (self.carried, self.result) and not self.result.asked(self.carried[0])


def find(path, known):
    """The `Origin` of a figure among the results `known`, {name: Made}; its result is None if it is none of them.

    It is looked for by its bytes, then by its pixels (PNG), which find a copy that lost its metadata, then by the
    request that it carries, which finds one that was altered.
    """
    carried, results = read_imprint(path), known.values()
    looks = [("its bytes", "sha256", store.sha256(path))]
    if Path(path).suffix.lower() == ".png":
        looks.append(("its pixels", "pixels", figure_metadata.pixel_digest(path)))
    for by, key, value in looks:
        if same := [one for one in results if one.facts.get(key) == value]:
            return Origin(carried, max(same, key=lambda one: carried is not None and one.asked(carried[0])), by)
    if carried:
        same = [one for one in results if one.asked(carried[0])]
        if result := next((one for one in same if one.file.suffix == Path(path).suffix.lower()), None):
            return Origin(carried, result, "its request alone: it was altered, or drawn with other software")
    return Origin(carried, None, "")


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
