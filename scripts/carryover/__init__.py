"""`from carryover import compare, diagnose, record`: the public names of `carryover.api`, which is loaded when asked.

The list of them is in `api` alone: every job runs this file, and its code would count as changed with each name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carryover.api import *  # noqa: F403


def __getattr__(name: str) -> object:
    from importlib import import_module, util  # which no job needs

    # A submodule is none of the names: asking for one must not load all others.
    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is None:
        api = import_module(f"{__name__}.api")
        if name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    from importlib import import_module

    return sorted({*globals(), *import_module(f"{__name__}.api").__all__})
