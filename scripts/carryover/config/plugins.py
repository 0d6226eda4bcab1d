"""The plug-ins that there are, found by their names."""

import importlib
import re
from functools import cache
from pathlib import Path

load = importlib.import_module
LIBRARY = Path(__file__).resolve().parents[1]
_CHECK = re.compile(r"^def ([a-z]\w*)\(data, p\)", re.MULTILINE)


@cache
def modules(kind):
    """{plug-in: its module} of one kind, sorted by name; nothing is imported.

    A plug-in is a module of `carryover.<kind>` without a leading underscore, but `parameters`. A family is a folder;
    what families share are the modules beside it. A module of claims may hold several groups of checks: then each is a
    public function of `(data, p)`, and a plug-in of its name.
    """
    folder = LIBRARY.joinpath(*kind.split("."))
    files = folder.glob("*/__init__.py" if kind == "families" else "*.py")
    found = {}
    for file in files:
        name = file.parent.name if kind == "families" else file.stem
        if name[0] == "_" or name == "parameters":
            continue
        own = _CHECK.findall(file.read_text(encoding="utf-8")) if kind == "claims" else []
        found |= dict.fromkeys([name] if own in ([], ["check"]) else own, f"carryover.{kind}.{name}")
    return dict(sorted(found.items()))


def names(kind):
    """Names of the plug-ins of one kind, sorted."""
    return list(modules(kind))
