"""Imports inside the library go one way: a package imports from layers below its own, and from nothing beside it."""

import ast
from pathlib import Path

import pytest

LIBRARY = Path(__file__).resolve().parents[1] / "scripts/carryover"
# From the ground up.
LAYERS = (
    ("errors", "streams", "labels"),
    ("config",),
    ("provenance", "runs"),
    ("theory", "networks", "tasks"),
    ("training",),
    ("measures", "statistics"),
    ("templates", "archive"),
    ("families", "analysis"),
    ("claims",),
    ("figures",),
    ("workflow",),
    ("audit", "crate", "diagnosis"),
    ("report",),
    ("commands", "api"),
    ("__main__",),
)
HEIGHT = {room: height for height, layer in enumerate(LAYERS) for room in layer}
FILES = sorted(path.relative_to(LIBRARY) for path in LIBRARY.rglob("*.py"))


def room(path):
    return path.parts[0].removesuffix(".py")


def imported(path):
    """The rooms of every import of ours, wherever in the file it stands."""
    for node in ast.walk(ast.parse((LIBRARY / path).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "carryover":
            parts = node.module.split(".")[1:]
            yield from ((parts or [alias.name])[0] for alias in node.names)
        elif isinstance(node, ast.Import):
            names = (alias.name.split(".") for alias in node.names)
            yield from (parts[1] for parts in names if parts[0] == "carryover" and len(parts) > 1)


def test_the_root_holds_packages_and_hardly_a_module():
    rooms = {room(path) for path in FILES} - {"__init__"}
    assert rooms == HEIGHT.keys()
    assert sum((LIBRARY / f"{name}.py").is_file() for name in rooms) <= 8
    for name in rooms:
        if (LIBRARY / name).is_dir():
            package = ast.parse((LIBRARY / name / "__init__.py").read_text())
            assert len(package.body) == (ast.get_docstring(package) is not None)  # and nothing is imported


@pytest.mark.parametrize("name", HEIGHT)
def test_a_room_imports_from_below_alone(name):
    upwards = {
        f"{path} imports {other}"
        for path in FILES
        if room(path) == name
        for other in imported(path)
        if other != name and HEIGHT[other] >= HEIGHT[name]
    }
    assert not upwards
