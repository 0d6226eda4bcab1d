"""The plug-ins that there are, found by their names."""

import importlib
import pkgutil

load = importlib.import_module


def names(kind):
    """Names of the plug-ins of one kind: modules of `carryover.<kind>` without a leading underscore, but `parameters`.

    A family is a folder; what families share are the modules beside it.
    """
    package, folders = importlib.import_module(f"carryover.{kind}"), kind == "families"
    modules = (m for m in pkgutil.iter_modules(package.__path__) if m.ispkg == folders)
    return sorted(m.name for m in modules if not m.name.startswith("_") and m.name != "parameters")
