"""Values as JSON, with one text for equal values (standard library only)."""

import hashlib
import json
from typing import Any


def plain(value: Any) -> Any:
    """A value as it comes back from JSON: models become sections, NumPy's numbers and arrays numbers and lists."""
    return json.loads(json.dumps(value, default=_simpler))


def _simpler(value: Any) -> Any:
    for convert in ("model_dump", "tolist"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise ValueError(f"a parameter is {value!r}: allowed are None, text, numbers, and lists and mappings of them")


def line(value: Any) -> str:
    """A value's JSON, with sorted keys, without spaces, in ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def json_digest(value: Any) -> str:
    """SHA-256 over `line`."""
    return hashlib.sha256(line(value).encode()).hexdigest()
