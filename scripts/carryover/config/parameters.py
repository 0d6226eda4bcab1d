"""Parameters, said once: a typed model by pydantic gives the checks, the flags, their help and the documentation.

    class Finetune(Model):
        samples: tuple[PositiveInt, ...] = parameter((16,), "training samples")
        solver: Literal["exact", "descent"] = parameter("exact", "how the network is solved", axis=True)
        learning_rate: PositiveFloat = parameter(0.1, "step of gradient descent", when={"solver": ("descent",)})

A ``tuple`` takes several values, all worked on in one job. An ``axis`` takes several values in the configuration, each
a job of its own. ``when`` names the values of axes under which the parameter is read at all: elsewhere it is no flag
of the job, so that changing it reruns nothing there. A ``path`` names a file, or a folder, whose files become inputs
of the job. A ``coordinate`` names coordinates of runs, or conditions on them, as coordinate=value.

The Snakefile reads the models: what they are made of imports nothing large.
"""

import argparse
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from carryover.errors import UserError

Fraction = Annotated[float, Field(ge=0, le=1)]
Several = Annotated[int, Field(ge=2)]
Condition = Annotated[str, Field(pattern="^[^=]+=")]
"""On runs, as coordinate=value."""
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
MOST, LARGEST = 2**31 - 1, 1e30
"""Largest whole and other number of a parameter: more samples, dimensions or steps than any machine works on."""


class Model(BaseModel):
    """Parameters of a stage or a plug-in; without any, those of a plug-in that has none.

    `Finetune` of a family says more: by axis, the values for which it `STARTS_FROM` pretrained networks, and the
    variables of its datasets that measures need, `KEEPS`, each with the parameters with which it is kept. A `VERSION`
    of `Pretrain` or `Finetune` pins what was trained, as that of `plugins.measure` pins what was measured.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    STARTS_FROM: ClassVar[dict[str, tuple]] = {}
    KEEPS: ClassVar[dict[str, dict[str, tuple]]] = {}
    VERSION: ClassVar[str] = ""

    def __init__(self, **values):
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise UserError(sentence(error, type(self))) from None

    @property
    def starts_pretrained(self) -> bool:
        """Whether runs with these parameters start from pretrained networks."""
        return bool(self.STARTS_FROM) and applies(self.STARTS_FROM, vars(self))

    @model_validator(mode="before")
    @classmethod
    def parse_values(cls, values):
        """Convert values from YAML or a command line: texts of numbers, such as 1e-6, which YAML reads as text, become
        numbers, and one value for a parameter that takes several becomes a tuple."""
        read = dict(values)
        for name in parameter_schema(cls).keys() & read.keys():
            about, value = parameter_schema(cls)[name], read[name]
            items = value if "items" in about and isinstance(value, list | tuple) else [value]
            items = [number(item, about.get("items", about)["type"]) for item in items]
            read[name] = tuple(items) if "items" in about else items[0]
        return read

    @model_validator(mode="after")
    def without_duplicates(self):
        """Refuse values of the right type that are empty, given twice, or too large for any machine."""
        for name, value in self:
            if isinstance(value, tuple) and len(set(value)) < len(value):
                raise ValueError(f"{name}: a value is given twice")
            if value == () != type(self).model_fields[name].default:  # () only as the default
                raise ValueError(f"{name}: an empty list asks for nothing; give at least one value")
            for item in value if isinstance(value, tuple) else [value]:
                if isinstance(item, int) and abs(item) > MOST:
                    raise ValueError(f"{name}: no array is as large as {item}")
                if isinstance(item, float) and abs(item) > LARGEST:
                    raise ValueError(f"{name}: {item:g} leaves no room for squares among the numbers of a machine")
                if item == "" and isinstance(value, tuple):
                    raise ValueError(f"{name}: a text is empty")
        return self


M = TypeVar("M", bound=Model)


def parameter(
    default: Any,
    meaning: str,
    *,
    axis: bool = False,
    when: dict[str, tuple] | None = None,
    path: bool = False,
    coordinate: bool = False,
) -> Any:
    """A field of a `Model` with its meaning; the module's text says what axis, when, path and coordinate are."""
    extra: dict[str, Any] = {"axis": axis, "when": when or {}, "path": path, "coordinate": coordinate}
    return Field(default, description=meaning, json_schema_extra=extra)


def number(value: Any, kind: str) -> Any:
    """The number that a text stands for, where JSON Schema's `kind` is a number, or else the value as it is: --config
    has all values as texts, and YAML 1e-6."""
    if isinstance(value, str) and kind == "integer" and re.fullmatch(r"[-+]?\d{1,20}", value):
        return int(value)
    return float(value) if isinstance(value, str) and kind == "number" and _NUMBER.fullmatch(value) else value


def keeps(*names: str, when: dict[str, tuple] | None = None) -> dict[str, dict[str, tuple]]:
    """Variables for `KEEPS` of a family: those that its datasets have where parameters have these values, or always."""
    return {name: when or {} for name in names}


@cache
def parameter_schema(cls: type[Model]) -> dict[str, dict[str, Any]]:
    """{name: JSON schema} of each parameter: its type, or that of its `items` if it takes several values, meaning,
    default and limits, and the arguments axis, when, path and coordinate of `parameter`."""
    return cls.model_json_schema()["properties"]


def read(cls: type[M], values: Any, where: str, paths: dict[str, str] | None = None) -> M:
    """The model filled with values; UserError for a value that is not allowed.

    The sentence of the error begins with `where`, the section of the values ("experiments.mine.finetune."), and the
    key, or with `where` alone if several keys contradict each other. `paths` has the sections of keys that come from
    another one, {"dimension": "experiments.mine.task"}.
    """
    if not isinstance(values or {}, dict):
        raise UserError(f"{where.removesuffix('.')}: {values!r} is no section of keys and values.")
    try:
        return cls(**(values or {}))
    except UserError as error:  # "key: message" on one key, or a message on several keys
        about_one, unknown = re.match(r"([\w.]+): ", str(error)), re.match(r"unknown key (\w+);", str(error))
        if (named := about_one or unknown) and named[1] in (paths or {}):
            where = f"configuration: {(paths or {})[named[1]]}."
        if not about_one and where.endswith("."):
            where = f"{where[:-1]}: "
        raise UserError(f"{where}{error}") from None


def sentence(error: ValidationError, kind: Any) -> str:
    """The first error of pydantic about a value of the type `kind`, as `key: message`.

    An unknown key comes before all others, since a misspelt key is often the reason why another one is missing.
    """
    first = min(error.errors(), key=lambda details: details["type"] != "extra_forbidden")
    place = [str(part) for part in first["loc"] if not isinstance(part, int)]
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        # The model in which the key stands, which names those that are allowed: down from `kind` along the place.
        for part in first["loc"][:-1]:  # fields of models, values of mappings, items of lists
            kind = kind.model_fields[part].annotation if hasattr(kind, "model_fields") else get_args(kind)[-1]
        *above, unknown = place
        allowed = ", ".join(kind.model_fields) or "none"
        return f"{'.'.join(above)}: unknown key {unknown}; allowed here: {allowed}.".removeprefix(": ")
    value = "" if first["type"] in ("value_error", "missing") else f", not {first['input']!r}"
    return f"{'.'.join(place)}: {message.removesuffix('.')}{value}.".removeprefix(": ")


def applies(when, point):
    """Whether a parameter or stage with these conditions is read at a point of the sweep (axis -> value)."""
    return all(point.get(axis) in values for axis, values in when.items())


def in_words(when):
    """Conditions in words: 'solver is descent and protocol is a or b'."""
    words = {axis: " or ".join(str(v).lower() if v in (True, False) else str(v) for v in when[axis]) for axis in when}
    return " and ".join(f"{axis} is {values}" for axis, values in words.items())


def differences(before: Any, now: Any, common: bool = False) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield (path, value before, value now), with values as text, of each value that differs in two nested sections.

    A path is a tuple of keys, and of positions in lists of sections. Of two lists of equal length, only the items that
    differ are written. `common` leaves out values that one side lacks.
    """
    old, new = dict(_leaves(before)), dict(_leaves(now))
    for path in new | old:
        in_both = path in old and path in new
        if (in_both and old[path] != new[path]) or (not in_both and not common):
            pair = [values.get(path, "absent") for values in (old, new)]
            if in_both and all(isinstance(value, list) for value in pair) and len(pair[0]) == len(pair[1]):
                # Keep the items that differ, then transpose to [items before, items now].
                pair = list(zip(*(items for items in zip(*pair, strict=True) if items[0] != items[1]), strict=True))
            old_words, new_words = (" ".join(map(str, value if isinstance(value, list | tuple) else [value])) or "empty"
                                    for value in pair)  # fmt: skip
            yield path, old_words, new_words


def _leaves(value, path=()):
    """Yield (path, value) of each leaf of nested sections: all but dictionaries and lists of dictionaries.

    A path is the tuple of the keys, and of the positions in lists, that lead to the value.
    """
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = dict(enumerate(value))
    if not isinstance(value, dict):
        yield path, value
        return
    for name, item in value.items():
        yield from _leaves(item, (*path, name))


def add_arguments(parser: argparse.ArgumentParser, cls: type[Model]) -> None:
    """Add an optional flag for each parameter; without it the parameter has the model's default."""
    # Other words than these stay text, for the model to refuse; `bool` would make True of any.
    truth = {"True": True, "False": False}
    types: dict[str, Any] = {
        "integer": int,
        "number": float,
        "string": str,
        "boolean": lambda word: truth.get(word, word),
    }
    for name, about in parameter_schema(cls).items():
        several, schema, default = "items" in about, about.get("items", about), about["default"]
        allowed = f"; one of {', '.join(schema['enum'])}" if "enum" in schema else ""
        default = " ".join(map(str, default)) if several else default
        parser.add_argument(
            flag(name),
            nargs="+" if several else None,
            type=types[schema["type"]],
            default=argparse.SUPPRESS,
            metavar=name.upper(),
            help=f"{about['description']}{allowed} (default: {default})".replace("%", "%%"),
        )


def from_arguments(cls: type[M], arguments: argparse.Namespace) -> M:
    """The model filled from parsed flags, and checked; UserError."""
    given = {name: value for name, value in vars(arguments).items() if name in cls.model_fields}
    return read(cls, given, "--")


def flag(name: str) -> str:
    """'learning_rate' -> '--learning-rate'."""
    return "--" + name.replace("_", "-")


def as_flags(values: Model | dict[str, Any]) -> list[str]:
    """{'lr': 0.1, 'rescale': [1.0, 0.1]} -> ['--lr=0.1', '--rescale', '1.0', '0.1']; floats are kept exactly.

    Of a model, the parameters that are not at their defaults.
    """
    given = values.model_dump(exclude_defaults=True) if isinstance(values, Model) else values
    flags = []
    for name, value in given.items():
        several = isinstance(value, list | tuple)
        flags += [flag(name), *map(str, value)] if several else [f"{flag(name)}={value}"]
    return flags


def files(path: str) -> list[str]:
    """The file at a path, or the files of the folder there and of its subfolders, where unpacked archives have theirs.

    Empty for an empty path and for a missing file, about which the function that opens it raises.
    """
    if not path:
        return []
    if (named := Path(path)).is_file():
        return [str(named)]
    entries = (entry for pattern in ("[!.]*", "[!.]*/[!.]*") for entry in named.glob(pattern))
    return sorted(str(entry) for entry in entries if entry.is_file())


def input_files(values: Model) -> list[str]:
    """All files that a stage's parameters name."""
    paths = [getattr(values, name) for name, about in parameter_schema(type(values)).items() if about["path"]]
    return list(dict.fromkeys(file for path in paths for file in files(path)))
