"""Parameters as a plug-in declares them: what would be no flag and no schema is refused in one sentence.

Jobs do not import this: whoever declares parameters writes the schema anew before one runs.
"""

import dataclasses

from carryover.config.parameters import JSON_TYPES, ParameterError, check, scalar_type
from carryover.errors import UserError

# Options of the scripts, by the folder of the plug-ins that they run; a parameter makes a flag beside them. And
# `grids`, which stands beside the parameters of a stage in the configuration.
TAKEN = {
    "families": ("experiment", "seeds", "pretrained", "grids", "also"),
    "measures": ("finetuned",),
    "curves": (),
    "comparisons": ("roles", "data"),
    "claims": ("roles", "data", "paper", "elsewhere"),
    "plotting": ("roles", "data", "style"),
    "tables": ("roles", "data"),
    "diagnosis": ("pretrained", "finetuned", "baseline", "style"),
}
EVERYWHERE = ("output", "wildcards", "help")


def declared(module, name="Parameters"):
    """The dataclass of parameters of a module, by name; UserError where it is missing or cannot be one."""
    folder, where = module.__name__.split(".")[1], file_of(module)
    cls = getattr(module, name, None)
    if cls is None:
        raise UserError(f"{where} has no {name}: a plug-in without any has `from carryover.config.parameters import "
                        f"NoParameters as {name}`.")  # fmt: skip
    if not dataclasses.is_dataclass(cls):
        raise UserError(f"{where}: {name} must be a dataclass: `@dataclass(frozen=True, kw_only=True)`.")
    for field in dataclasses.fields(cls):
        _check_field(cls, field, f"{where}: {field.name}", (*TAKEN[folder], *EVERYWHERE))
    try:
        check(cls())
    except ParameterError as error:
        raise UserError(f"{where}: the default of {error}") from None
    return cls


def roles(module):
    """(required, optional) roles of data that a plug-in says it reads, or None: then roles have any names.

    Raises UserError where it names them in another way than as a tuple of texts.
    """
    said = [getattr(module, name, None) for name in ("ROLES", "OPTIONAL_ROLES")]
    for name, names in zip(("ROLES", "OPTIONAL_ROLES"), said, strict=True):
        if names is not None and not (isinstance(names, tuple) and all(isinstance(role, str) for role in names)):
            raise UserError(f'{file_of(module)}: {name} must be a tuple of texts, as ("risk",), not {names!r}.')
    return None if said == [None, None] else tuple(names or () for names in said)


def file_of(module):
    """A plug-in's file, below scripts/carryover, as sentences name it."""
    return "/".join(module.__name__.split(".")[1:]) + ".py"


def _check_field(cls, field, called, taken):
    """Refuse a field, as it is called in a sentence, of which there can be no flag."""
    if field.name in taken:
        raise UserError(f"{called} has a name that the script itself has taken, as {', '.join(taken)} are.")
    if "help" not in field.metadata:
        raise UserError(f"{called} must be declared as `{field.name}: … = parameter(default, meaning)`.")
    try:
        kind, many = scalar_type(cls, field.name)
    except NameError as error:  # of a type that is written as text, or by postponed annotations
        raise UserError(f"{called}: its type cannot be found ({error}).") from None
    if kind not in JSON_TYPES:
        known = ", ".join(one.__name__ for one in JSON_TYPES)
        shown = getattr(kind, "__name__", "") if isinstance(kind, type) else kind
        raise UserError(f"{called} is of the type {shown}: it must be one of {known}, or tuple[…, ...] of one.")
    items = field.default if many else (field.default,)
    if not isinstance(items, tuple) or not all(_is_a(kind, item) for item in items):
        shown = f"a tuple of {kind.__name__}" if many else f"of the type {kind.__name__}"
        raise UserError(f"{called}: the default {field.default!r} is not {shown}.")


def _is_a(kind, value):
    """Whether a value is of a type, as a configuration has it: 1 is a number, too, and True is none."""
    return type(value) is kind or (kind is float and type(value) is int)
