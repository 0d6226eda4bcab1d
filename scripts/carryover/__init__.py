"""`from carryover import compare, diagnose, record`: the names of `carryover.api`, each loaded when asked for."""


def __getattr__(name):
    from importlib import import_module, util

    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is None:  # no submodule
        from carryover.api import MODULE_OF

        if name in MODULE_OF:
            return getattr(import_module(f"{__name__}.{MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    from carryover.api import MODULE_OF

    return sorted({*globals(), *MODULE_OF})
