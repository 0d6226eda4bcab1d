"""What a figure carries of its own record.

A figure cannot hold a digest of its whole record, which holds the figure's own hash. It carries what is known before
it is drawn: the request (rule, figure, parameters, digest of the code, contents of the inputs) as one line of JSON, and
the SHA-256 of that line, which stands in the record as `request`. The commit, the time and the machine are in the
record alone: with them in the figure, equal content would no longer give equal bytes.
"""

import hashlib

KEYS = {".png": ("Description", "Comment"), ".svg": ("Description", "Source"), ".pdf": ("Subject", "Keywords")}
"""Where each format keeps the request's digest and its text."""
_TIMES = {".png": (), ".svg": ("Date",), ".pdf": ("CreationDate", "ModDate")}
HEAD = "Carryover request "


def metadata(suffix, text):
    """What `savefig` is to write into a figure of this format: the request's digest and text, and no time."""
    digest_key, text_key = KEYS[suffix]
    nothing = dict.fromkeys(_TIMES[suffix])
    return {**nothing, digest_key: HEAD + hashlib.sha256(text.encode()).hexdigest(), text_key: text}
