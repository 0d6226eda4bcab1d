"""The installed packages that modules of the project import as they are loaded."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def imported(scripts: Path, modules: Iterable[str]) -> frozenset[str]:
    """Names of all that importing these modules of the folder `scripts` imports of installed packages.

    Only statements at the outermost level count: what stands in a function or a branch may never be run.
    """
    seen: set[str] = set()
    todo, packages = list(modules), set()
    while todo:
        if (name := todo.pop()) not in seen:
            seen.add(name)
            if file := _file(scripts, name):
                todo += _names(file)
            elif name.partition(".")[0] not in sys.stdlib_module_names and not _file(scripts, name.partition(".")[0]):
                packages.add(name)
    # Every dataset is read and written by it, but xarray loads it when that is first done.
    return frozenset(packages | ({"netCDF4"} if "xarray" in packages else set()))


def _file(scripts: Path, name: str) -> Path | None:
    """The file of a module below `scripts`, if it is one."""
    base = scripts.joinpath(*name.split("."))
    return next((file for file in (base.with_name(f"{base.name}.py"), base / "__init__.py") if file.is_file()), None)


@cache
def _names(file: Path) -> tuple[str, ...]:
    return tuple(_statements(ast.parse(file.read_bytes())))


def _statements(tree: ast.Module) -> Iterator[str]:
    """All that may be a module in the import statements of a file."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
