"""The plug-ins that there are, found by their names."""

import importlib
import re
from functools import cache
from pathlib import Path

load = importlib.import_module
LIBRARY = Path(__file__).resolve().parents[1]
_FUNCTION = re.compile(r"^def ([a-z]\w*)\((?:data, )?p\)", re.MULTILINE)


@cache
def modules(kind):
    """{plug-in: its module} of one kind, sorted by name; nothing is imported.

    A plug-in is a public function of `(data, p)`, or of a curve `(p)`, in a module of `carryover.<kind>`. A family is a
    folder; the other modules there are shared by all families.
    """
    folder = LIBRARY.joinpath(*kind.split("."))
    if kind == "families":
        names = sorted(file.parent.name for file in folder.glob("*/parameters.py"))
        return {name: f"carryover.families.{name}" for name in names}
    found = {name: f"carryover.{kind}.{file.stem}" for file in folder.glob("*.py")
             for name in _FUNCTION.findall(file.read_text(encoding="utf-8"))}  # fmt: skip
    return dict(sorted(found.items()))


def names(kind):
    """Names of the plug-ins of one kind, sorted."""
    return list(modules(kind))


def function_of(kind, name):
    """The function of a plug-in, whose module is imported."""
    return getattr(load(modules(kind)[name]), name)
