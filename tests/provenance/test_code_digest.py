"""The digest of a program changes with its syntax tree, and with what it reaches of any module that it imports."""

import pytest

from carryover.provenance import code_digest
from toy.refusal import refused

PROGRAM = '''
"""A module."""
import lib.norms as norms  # the library

RATE = 0.1


def step(x, *, scale=None):
    """One step."""
    y = f"{x!r:>{RATE}} and more" + "a" "b"
    return norms.size(x) * (RATE if scale is None else scale), y
'''
SAME = {
    "comment": PROGRAM.replace("# the library", "# ours"),
    "function docstring": PROGRAM.replace("One step", "A stride\n\n    of some length"),
    "layout": PROGRAM.replace("    return norms", "\n\n    return (\n        norms").replace(", y\n", ", y\n    )\n"),
    "spelling of literals": PROGRAM.replace("0.1", "1e-1").replace('"a" "b"', "'ab'"),
}
OTHER = {
    "constant": PROGRAM.replace("0.1", "0.2"),
    "default": PROGRAM.replace("scale=None", "scale"),
    "operator": PROGRAM.replace(") * (", ") + ("),
    "text of an f-string": PROGRAM.replace(" and ", " or "),
}


@pytest.fixture
def tree(tmp_path):
    """Write {path: source} below a fresh root."""

    def write(files, root="scripts"):
        for name, source in files.items():
            path = tmp_path / root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source, encoding="utf-8")
        return tmp_path / root

    return write


def of_source(tree, source):
    return code_digest.closure_files(tree({"program.py": source}), "program")


@pytest.mark.parametrize("change", [*SAME, *OTHER])
def test_of_one_source(tree, change):
    source = (SAME | OTHER)[change]
    assert source != PROGRAM
    assert (of_source(tree, source) == of_source(tree, PROGRAM)) == (change in SAME)


LIBRARY = {
    "run.py": "def main():\n    from pkg import work, VALUE\n    import pkg.sub.deep as d\n",
    "unrelated.py": "",
    "pkg/__init__.py": "VALUE = 1\n",
    "pkg/work.py": "import numpy.linalg\nfrom pkg.names import *\n",
    "pkg/names.py": "import both\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import unrelated\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "if False:\n    import pkg.late\n",
    "pkg/late.py": "",
    "pkg/sub/idle.py": "",
    "both.py": "THE_MODULE = 1\n",
    "both/__init__.py": "THE_PACKAGE = 1\n",
}
CLOSURE = ["both/__init__.py", "pkg/__init__.py", "pkg/late.py", "pkg/names.py", "pkg/sub/__init__.py",
           "pkg/sub/deep.py", "pkg/work.py", "run.py"]  # fmt: skip


def test_closure_follows_every_local_import_wherever_it_stands(tree):
    root = tree(LIBRARY)
    before = code_digest.closure_files(root, "run")
    assert list(before) == CLOSURE
    assert code_digest.closure_files(tree(LIBRARY, "elsewhere/deeper"), "run") == before
    for file in LIBRARY:
        tree({file: LIBRARY[file] + "print()\n"})
        changed = [name for name, digest in code_digest.closure_files(root, "run").items() if digest != before[name]]
        assert changed == ([file] if file in CLOSURE else [])
        tree({file: LIBRARY[file]})


ROOM = """
import helpers
from helpers import other as renamed
LIMIT = 3
def first(x, y=LIMIT):
    return helpers.used(x) + y
def second(x):
    local = renamed(x)
    return local
class Kind:
    def method(self):
        return second(1)
"""
HELPERS = "def used(x):\n    return x\n\n\ndef other(x):\n    return Table[x]\n\n\nTable = {1: used}\n"
REACHED = {  # (edit of the room, or of its helpers): the entries whose digest changes
    ("local", "renamed_local"): {"second", "Kind"},
    ("LIMIT = 3", "LIMIT = 4"): {"first"},
    ("def second", "def third():\n    pass\ndef second"): set(),
    ("return second(1)", "return second(2)"): {"Kind"},
    ("{1: used}", "{2: used}"): {"second", "Kind"},
    ("    return x\n", "    return x + 1\n"): {"first", "second", "Kind"},
    ("Table = {", "print()\nTable = {"): {"first", "second", "Kind"},
}


def of_entries(tree, room, helpers):
    root = tree({"room.py": room, "helpers.py": helpers})
    return {name: code_digest.closure_files(root, f"room:{name}") for name in ("first", "second", "Kind")}


@pytest.mark.parametrize("edit", REACHED)
def test_a_definition_counts_with_what_it_reaches_and_no_more(tree, edit):
    before, after = of_entries(tree, ROOM, HELPERS), of_entries(tree, ROOM.replace(*edit), HELPERS.replace(*edit))
    assert {name for name in before if before[name] != after[name]} == REACHED[edit]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import os\n\nfrom . import x\n", "scripts/pkg/bad.py, line 3: relative import"),
        ("x = 1\ny = (\n", "scripts/pkg/bad.py, line 2: "),
    ],
)
def test_names_file_and_line(tree, source, sentence):
    root = tree({"run.py": "import pkg.bad\n", "pkg/__init__.py": "", "pkg/bad.py": source})
    assert refused(code_digest.closure_files, root, "run").startswith(sentence)
