"""The installed packages that modules of the project import as they are loaded."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path


@cache
def imported(scripts: Path, modules: tuple[str, ...]) -> frozenset[str]:
    """Names of all that importing these modules of the folder `scripts` imports of installed packages.

    Only statements at the outermost level count: what stands in a function or a branch may never be run. Of what is
    imported from a package the package counts, for it need not be a module.
    """
    seen: set[str] = set()
    todo, packages = list(modules), set[str]()
    while todo:
        if (name := todo.pop()) not in seen:
            seen.add(name)
            if file := _file(scripts, name):
                for module, members in _statements(file):
                    todo += [module, *(member for member in members if _file(scripts, member))]
            elif name.partition(".")[0] not in sys.stdlib_module_names:
                packages.add(name)
    # Every dataset is read and written by it, but xarray loads it when that is first done.
    return frozenset(packages | ({"netCDF4"} if "xarray" in packages else set()))


def _file(scripts: Path, name: str) -> Path | None:
    """The file of a module below `scripts`, if it is one."""
    base = scripts.joinpath(*name.split("."))
    return next((file for file in (base.with_name(f"{base.name}.py"), base / "__init__.py") if file.is_file()), None)


@cache
def _statements(file: Path) -> list[tuple[str, list[str]]]:
    """(module, what is imported from it) of each import statement of a file."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.parse(file.read_bytes()).body:
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.module, [f"{node.module}.{alias.name}" for alias in node.names]))
    return found
