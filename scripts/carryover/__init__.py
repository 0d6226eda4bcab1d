"""`from carryover import compare, diagnose, record`: the names of `carryover.api`, each loaded when asked for.

Every job runs this file, so it imports the list by name only: its code would count as changed with each new name.
"""


def __getattr__(name):
    from importlib import import_module, util

    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is None:  # no submodule
        module = import_module(f"{__name__}.api").MODULE_OF.get(name)
        if module:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    from importlib import import_module

    return sorted({*globals(), *import_module(f"{__name__}.api").MODULE_OF})
