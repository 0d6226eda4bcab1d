"""The plug-ins that there are, found by their names."""

import importlib
import re
from functools import cache
from pathlib import Path

from carryover.errors import UserError

load = importlib.import_module
LIBRARY = Path(__file__).resolve().parents[1]
_FUNCTION = re.compile(r"^def ([a-z]\w*)\((?:data, )?p\)", re.MULTILINE)
FUNCTIONS = {
    "measures": "measure",
    "theory.curves": "compute",
    "claims.comparisons": "compare",
    "claims": "check",
    "figures": "draw",
    "figures.tables": "rows",
}
"""{kind: function of a plug-in that has a module of its own}; families have several."""


@cache
def modules(kind):
    """{plug-in: its module} of one kind, sorted by name; nothing is imported.

    A plug-in is a module of `carryover.<kind>` without a leading underscore, but `parameters`. A family is a folder;
    the other modules there are shared by all families. Another module may hold several plug-ins: then each is a public
    function of `(data, p)`, or of a curve `(p)`, with its name.
    """
    folder = LIBRARY.joinpath(*kind.split("."))
    files = folder.glob("*/parameters.py" if kind == "families" else "*.py")
    found = {}
    for file in files:
        name = file.parent.name if kind == "families" else file.stem
        if name[0] == "_" or name == "parameters":
            continue
        own = _FUNCTION.findall(file.read_text(encoding="utf-8")) if kind in FUNCTIONS else []
        alone = not own or FUNCTIONS[kind] in own
        found |= dict.fromkeys([name] if alone else own, f"carryover.{kind}.{name}")
    return dict(sorted(found.items()))


def names(kind):
    """Names of the plug-ins of one kind, sorted."""
    return list(modules(kind))


def function_of(kind, name):
    """The function of a plug-in: that in `FUNCTIONS` of its own module, or that of its name in a module of several;
    UserError where there is none."""
    module = load(modules(kind)[name])
    make = getattr(module, FUNCTIONS[kind], None) or getattr(module, name, None)
    if make is None:
        raise UserError(f"{module.__name__} must define a function {FUNCTIONS[kind]}")
    return make
