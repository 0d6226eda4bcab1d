"""The plug-ins that there are, found by their names."""

import importlib
import pkgutil


def names(kind):
    """Names of the plug-ins of one kind: modules and folders of `carryover.<kind>` without a leading underscore."""
    package = importlib.import_module(f"carryover.{kind}")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
