"""The parts of a record that its readers take: anyone may have edited the file in which it stands."""

from datetime import datetime, timedelta

from carryover.provenance.portability import LEVELS

# A type; (one form, or another); [form of each]; {name: form}, or {...: form} for any names; or a function of the part.
_FILES = {...: {"sha256": str, "bytes": int}}
_CAUSE = {"verdict": str, "cause": str, "found": str}


def wrong(record):
    """Names of the parts that a record lacks, or has in another form than `job_record.Job` writes them."""
    return [name for name, form in _PARTS.items() if not fits(record.get(name, _IF_MISSING.get(name)), form)]


def fits(part, form):
    """Whether a part of a record has a form."""
    if isinstance(form, type):
        return isinstance(part, form)
    if isinstance(form, tuple):
        return any(fits(part, one) for one in form)
    if isinstance(form, list):
        return isinstance(part, list) and all(fits(item, form[0]) for item in part)
    if not isinstance(form, dict):
        return form(part)
    if not isinstance(part, dict):
        return False
    if ... in form:
        return all(fits(item, form[...]) for item in part.values())
    return all(name in part and fits(part[name], one) for name, one in form.items())


def _is_python(part):
    """An implementation and its version."""
    return isinstance(part, str) and len(part.split(" ")) == len(part.split()) == 2


def _is_volatile(part):
    """Host and the like, with a start and a duration in seconds that have an end which can be written as a date."""
    times = {"processor_time": (float, int), "starting": (float, int)}  # records were without these once
    resumed = {"starts": int, "seconds": (float, int)}
    form = {"host": str, "platform": str, "peak_memory": int, **times, "resumed": resumed}
    known = {**dict.fromkeys(times, 0.0), "resumed": dict.fromkeys(resumed, 0)}
    if not isinstance(part, dict) or not fits({**known, **part}, form):
        return False
    try:
        datetime.fromisoformat(part["start"]) + timedelta(seconds=part["duration"])
    except (LookupError, TypeError, ValueError, OverflowError):
        return False
    return True


def _is_promise(part):
    return part in LEVELS


_PARTS = {
    "rule": str,
    "wildcards": dict,
    "parameters": dict,
    "seeds": list,
    "command": [str],
    "inputs": _FILES,
    "outputs": _FILES,
    "code": {"digest": str, "modules": [str], "files": {...: str}},
    "definition": int,
    "request": str,
    "portable": {"job": _is_promise, "result": _is_promise},
    "git": (type(None), {"commit": str, "dirty": bool}),
    "environment": {
        "python": _is_python,
        "versions": {...: str},
        "blas": [{"library": str, "version": object}],
        "device": str,
        "accelerator": (type(None), {"name": str}),
        "threads": {...: int},
    },
    "volatile": _is_volatile,
    "notes": [{"reason": str, "causes": [_CAUSE]}],
}
# Records were without these once.
_IF_MISSING = {"notes": [], "definition": 1, "portable": {"job": "rounding", "result": "rounding"}}
