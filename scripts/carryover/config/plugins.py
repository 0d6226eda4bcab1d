"""The plug-ins that there are, found by their names."""

import importlib
from pathlib import Path

load = importlib.import_module
LIBRARY = Path(__file__).resolve().parents[1]


def names(kind):
    """Names of the plug-ins of one kind: modules of `carryover.<kind>` without a leading underscore, but `parameters`.

    A family is a folder; what families share are the modules beside it. Nothing is imported.
    """
    folder = LIBRARY.joinpath(*kind.split("."))
    if kind == "families":
        return sorted(file.parent.name for file in folder.glob("*/__init__.py"))
    return sorted(file.stem for file in folder.glob("*.py") if file.stem[0] != "_" and file.stem != "parameters")
