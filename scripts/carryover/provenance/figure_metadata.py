"""What a figure carries of its own record, and the hash of what is seen of it.

A figure cannot hold a digest of its whole record, which holds the figure's own hash. It carries what is known before
it is drawn: the request (rule, figure, parameters, digest of the code, contents of the inputs) as one line of JSON, and
the SHA-256 of that line, which stands in the record as `request`. So anyone can check the one against the other and
both against the record. The commit, the time and the machine are in the record alone: with them in the figure, equal
content would no longer give equal bytes.
"""

import hashlib

# Where each format keeps the request's digest and its text, and what would say when the figure was made.
KEYS = {".png": ("Description", "Comment"), ".svg": ("Description", "Source"), ".pdf": ("Subject", "Keywords")}
_TIMES = {".png": (), ".svg": ("Date",), ".pdf": ("CreationDate", "ModDate")}
_HEAD = "Carryover request "


def metadata(suffix, text):
    """What `savefig` is to write into a figure of this format: the request's digest and text, and no time.

    `text` is `provenance.request_text` of the job; suffixes are those of `KEYS`.
    """
    digest_key, text_key = KEYS[suffix]
    nothing = dict.fromkeys(_TIMES[suffix])
    return {**nothing, digest_key: _HEAD + hashlib.sha256(text.encode()).hexdigest(), text_key: text}


def carried(fields):
    """(digest, text) of the request among the metadata that a figure has; None where it carries none.

    `fields` are the values of its format's two `KEYS`, None where missing. The text is None where the figure carries
    the digest alone, and where it does not have that digest: then someone changed one of them.
    """
    head, text = (field if isinstance(field, str) else None for field in fields)
    if head is None or not head.startswith(_HEAD):
        return None
    request = head.removeprefix(_HEAD)
    whole = text is not None and hashlib.sha256(text.encode()).hexdigest() == request
    return request, text if whole else None


def pixel_digest(path):
    """SHA-256 over the size and the RGBA pixels of a raster image: blind to metadata, name and compression.

    Raises OSError (PIL.UnidentifiedImageError is one) for what is no image.
    """
    from PIL import Image

    with Image.open(path) as image:
        pixels = image.convert("RGBA")
    return hashlib.sha256(f"{pixels.width} {pixels.height}\n".encode() + pixels.tobytes()).hexdigest()
