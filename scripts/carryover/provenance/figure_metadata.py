"""What a figure carries of its own record.

A figure cannot hold a digest of its whole record, which holds the figure's own hash. It carries what is known before
it is drawn: the request (rule, figure, parameters, digest of the code, contents of the inputs) as one line of JSON, and
the SHA-256 of that line, which stands in the record as `request`. The commit, the time and the machine are in the
record alone: with them in the figure, equal content would no longer give equal bytes.
"""

import hashlib
from pathlib import Path
from xml.etree import ElementTree

from carryover.errors import UserError

KEYS = {".png": ("Description", "Comment"), ".svg": ("Description", "Source"), ".pdf": ("Subject", "Keywords")}
"""Where each format keeps the request's digest and its text."""
_TIMES = {".png": (), ".svg": ("Date",), ".pdf": ("CreationDate", "ModDate")}
_HEAD = "Carryover request "


def metadata(suffix, text):
    """What `savefig` is to write into a figure of this format: the request's digest and text, and no time."""
    digest_key, text_key = KEYS[suffix]
    nothing = dict.fromkeys(_TIMES[suffix])
    return {**nothing, digest_key: _HEAD + hashlib.sha256(text.encode()).hexdigest(), text_key: text}


def read(path):
    """(digest, text) of the request that a PNG, SVG or PDF carries; ("", "") where it carries none.

    The text is empty where it does not have that digest: then someone changed one of them. Raises UserError for a file
    of another format, or that is not what its suffix says.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in KEYS:
        raise UserError(f"{path} has the suffix {suffix or 'of nothing'}: it must be one of {', '.join(KEYS)}")
    try:
        head, text = (str(field or "") for field in _fields(path, suffix))
    except ImportError:
        raise
    except Exception:  # the libraries report damage as OSError, SyntaxError, LookupError, ValueError and more
        raise UserError(f"{path} is no {suffix[1:].upper()}, or damaged: give a whole copy of the figure") from None
    digest = head.removeprefix(_HEAD) if head.startswith(_HEAD) else ""
    return digest, text if hashlib.sha256(text.encode()).hexdigest() == digest else ""


def _fields(path, suffix):
    if suffix == ".png":
        from PIL import Image

        with Image.open(path) as image:
            image.load()  # text may stand behind the pixels
            return [image.info.get(key) for key in KEYS[suffix]]
    if suffix == ".svg":
        tree = ElementTree.parse(path)
        return [tree.findtext(f".//{{http://purl.org/dc/elements/1.1/}}{key.lower()}") for key in KEYS[suffix]]
    from pypdf import PdfReader

    fields = PdfReader(path).metadata or {}
    return [fields.get(f"/{key}") for key in KEYS[suffix]]
