"""A stage's parameters, said once: one frozen dataclass gives its flags, its schema, its checks and its documentation.

    @dataclass(frozen=True, kw_only=True)
    class Finetune:
        samples: tuple[int, ...] = parameter((16,), "training samples", minimum=1)
        solver: str = parameter("exact", "how the network is solved", choices=("exact", "descent"), axis=True)
        learning_rate: float = parameter(0.1, "step of gradient descent", above=0, when={"solver": ("descent",)})

A ``tuple`` takes several values, all worked on in one job. An ``axis`` takes several values in the configuration, each
a job of its own. ``when`` names the values of axes under which the parameter is read at all: elsewhere it is no flag
of the job, so changing it reruns nothing there. A ``path`` names a file, or a folder, whose files become inputs of the
job. Standard library only.
"""

import argparse
import dataclasses
import math
from decimal import Decimal
from pathlib import Path
from typing import get_args, get_origin, get_type_hints

from carryover.errors import UserError

JSON_TYPES = {int: "integer", float: "number", str: "string", bool: "boolean"}
PLAIN = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}
LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤"}
LARGEST = 1e30
"""No parameter is larger in size: squares of it leave single precision, powers of it soon double precision."""
LARGEST_WHOLE = 2**53
"""No whole number is larger in size: up to here they are exact in double precision, too."""


class ParameterError(UserError):
    """A parameter's value is not allowed; the message is one sentence naming it."""


def parameter(
    default, help, *, minimum=None, above=None, maximum=None, choices=None, axis=False, when=None, unit=None, path=False
):
    """A dataclass field that knows its meaning, range and unit, and whether and when it makes jobs of its own."""
    limits = {"minimum": minimum, "exclusiveMinimum": above, "maximum": maximum}
    metadata = {
        "help": help,
        "limits": {k: v for k, v in limits.items() if v is not None},
        "choices": choices,
        "axis": axis,
        "when": {k: list(v) for k, v in (when or {}).items()},
        "unit": unit,
        "path": path,
    }
    return dataclasses.field(default=default, metadata=metadata)


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoParameters:
    """Of a plug-in that has none: its `Parameters`."""


def scalar_type(cls, name):
    """(type of one value, whether the parameter takes several)."""
    kind = get_type_hints(cls)[name]
    return (get_args(kind)[0], True) if get_origin(kind) is tuple else (kind, False)


def fragment(cls):
    """The JSON schema of a section of the configuration that holds these parameters."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {f.name: _property(cls, f) for f in dataclasses.fields(cls)},
    }


def _property(cls, field):
    kind, many = scalar_type(cls, field.name)
    value = {"type": JSON_TYPES[kind], **field.metadata["limits"]}
    if field.metadata["choices"]:
        value["enum"] = list(field.metadata["choices"])
    several = {"type": "array", "items": value, "minItems": 1, "uniqueItems": True}
    schema = {"anyOf": [value, several]} if many or field.metadata["axis"] else dict(value)
    schema["description"] = field.metadata["help"]
    schema["default"] = list(field.default) if many else field.default
    for key in ("unit", "when", "path"):
        if field.metadata[key]:
            schema[key] = field.metadata[key]
    if many or field.metadata["axis"]:
        schema["several"] = "jobs" if field.metadata["axis"] else "one job"
    return schema


def allowed(schema):
    """What a schema allows, in words: 'a number > 0, or a list of such'."""
    if "anyOf" in schema:
        return f"{allowed(schema['anyOf'][0])}, or a list of such without repeats"
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    if "allows" in schema:
        return schema["allows"]
    if "suffixes" in schema:
        return f"a file of one of the kinds {', '.join(schema['suffixes'])}"
    section = "a section with at least one key" if schema.get("minProperties") else "a section of keys and values"
    words = {"array": "a list", "object": section} | PLAIN
    limits = " and ".join(f"{sign} {schema[key]:g}" for key, sign in LIMITS.items() if key in schema)
    types = schema.get("type", [])
    told = " or ".join(words[one] for one in ([types] if isinstance(types, str) else types))
    return f"{told or 'something else'} {limits}".strip()


def applies(when, point):
    """Whether a parameter or stage with these conditions is read at a point of the sweep (axis -> value)."""
    return all(point.get(axis) in values for axis, values in when.items())


def in_words(when):
    """Conditions as they are said: 'solver is descent and protocol is a or b'."""
    said = {axis: " or ".join(str(v).lower() if isinstance(v, bool) else str(v) for v in when[axis]) for axis in when}
    return " and ".join(f"{axis} is {values}" for axis, values in said.items())


def add_arguments(parser, cls):
    """One flag per parameter, all optional: what is left out takes the dataclass's default."""
    for f in dataclasses.fields(cls):
        kind, many = scalar_type(cls, f.name)
        unit = f" [{f.metadata['unit']}]" if f.metadata["unit"] else ""
        default = " ".join(map(str, f.default)) if many else f.default
        parser.add_argument(
            flag(f.name),
            type=_boolean if kind is bool else kind,
            nargs="+" if many else None,
            choices=f.metadata["choices"],
            default=argparse.SUPPRESS,
            help=f"{f.metadata['help']}{unit} (default: {default})".replace("%", "%%"),
        )


def from_arguments(cls, arguments):
    """The dataclass filled from parsed flags and checked; raises ParameterError."""
    given = {}
    for f in dataclasses.fields(cls):
        (kind, many), value = scalar_type(cls, f.name), getattr(arguments, f.name, f.default)
        given[f.name] = tuple(map(kind, value)) if many else kind(value)  # a default of 1 is 1.0 where it is a number
    check(values := cls(**given))
    return values


def check(values):
    """Refuse values out of range by name; the command line is held to the same limits as the configuration."""
    for f in dataclasses.fields(values):
        value = getattr(values, f.name)
        schema = _property(type(values), f)
        single = schema["anyOf"][0] if "anyOf" in schema else schema
        items = value if isinstance(value, tuple) else (value,)
        for item in items:
            if fault := no_usable_number(item):
                raise ParameterError(f"{flag(f.name)} {item}: it is {fault}.")
            if not _within(item, single):
                raise ParameterError(f"{flag(f.name)} {item}: it must be {allowed(single)}.")
        if len(set(items)) < len(items):
            raise ParameterError(f"{' '.join(as_flags({f.name: value}))}: it must be {allowed(schema)}.")


def no_usable_number(item):
    """Why a number cannot be computed with, in words; nothing for any other value."""
    if not isinstance(item, int | float):
        return ""
    if isinstance(item, float) and not math.isfinite(item):
        return "not a finite number"
    kind, largest = ("number", LARGEST) if isinstance(item, float) else ("whole number", LARGEST_WHOLE)
    return f"too large to compute with: the size of a {kind} is at most {largest:g}" if abs(item) > largest else ""


def _within(item, schema):
    tests = {
        "minimum": lambda limit: item >= limit,
        "exclusiveMinimum": lambda limit: item > limit,
        "maximum": lambda limit: item <= limit,
        "enum": lambda values: item in values,
    }
    return all(test(schema[key]) for key, test in tests.items() if key in schema)


def _boolean(text):
    if text not in ("True", "False"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither True nor False")
    return text == "True"


def flag(name):
    """'learning_rate' -> '--learning-rate'."""
    return "--" + name.replace("_", "-")


def files(path):
    """The files that a parameter that is a `path` stands for: itself, or what lies in that folder and, as an unpacked
    archive does, in the folders in it; none if empty.

    What is missing is left for its reader to name.
    """
    named = Path(path) if path else None
    if named is None or not named.is_dir():
        return [str(named)] if named and named.is_file() else []
    inside = (file for pattern in ("[!.]*", "[!.]*/[!.]*") for file in named.glob(pattern))
    return sorted(str(file) for file in inside if file.is_file())


def files_read(values):
    """All files that a stage's parameters name."""
    paths = [getattr(values, f.name) for f in dataclasses.fields(values) if f.metadata["path"]]
    return list(dict.fromkeys(file for path in paths for file in files(path)))


def as_flags(values):
    """{'lr': 0.1, 'rescale': [1.0, 0.1]} -> ['--lr', '0.1', '--rescale', '1.0', '0.1']; floats are kept exactly.

    Text that would be lost or taken for a flag, empty or with a dash before it, is one word with its flag: '--title='.
    """
    flags = []
    for name, value in values.items():
        told = words(value)
        texts = all(isinstance(one, str) for one in (value if isinstance(value, list | tuple) else [value]))
        alone = texts and len(told) == 1 and (not told[0] or told[0].startswith("-"))
        flags += [f"{flag(name)}={told[0]}"] if alone else [flag(name), *told]
    return flags


def words(value):
    """What of a command line says a value, or several."""
    return [_word(item) for item in (value if isinstance(value, list | tuple) else [value])]


def _word(value):
    if isinstance(value, float) and value < 0:  # argparse before Python 3.14 takes -1e-05 for a flag, but not -0.00001
        return f"{Decimal(repr(value)):f}"
    return value if isinstance(value, str) else repr(value)
