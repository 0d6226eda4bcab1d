"""The plug-ins that there are, found by their names."""

import gc
import importlib
import pkgutil
from contextlib import contextmanager


def names(kind):
    """Names of the plug-ins of one kind: modules of `carryover.<kind>` without a leading underscore, but `parameters`.

    A family is a folder; what families share are the modules beside it.
    """
    package, folders = importlib.import_module(f"carryover.{kind}"), kind == "families"
    modules = (m for m in pkgutil.iter_modules(package.__path__) if m.ispkg == folders)
    return sorted(m.name for m in modules if not m.name.startswith("_") and m.name != "parameters")


def load(path):
    """The module of a plug-in by its dotted name; raises as `importlib.import_module`."""
    with cycles_left_alone():
        return importlib.import_module(path)


@contextmanager
def cycles_left_alone():
    """Python does not look for objects that hold one another and nothing else.

    It does so ever again while modules are loaded or a figure is drawn, where objects are many and garbage is little:
    that takes a sixth of the time. Not for training, whose garbage is large.
    """
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if looks:
            gc.enable()
