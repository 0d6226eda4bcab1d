"""The digest of a program changes with its meaning and with nothing else."""

import os
import sys

import pytest

from carryover.errors import UserError
from carryover.provenance import code_digest

PROGRAM = '''
"""A module."""
import lib.norms as norms  # the library

RATE = 0.1


def step(x, *, scale=None):
    """One step."""
    y = f"{x!r:>{RATE}} and {'text' 'more'} {{}}" + "a" "b"
    return norms.size(x) * (RATE if scale is None else scale), y, b"\\xff", 1e400, "π\u0378"


class Empty:
    """Nothing."""


class Parameters:
    samples: int = parameter(16, "training samples", minimum=1, unit="1")
    fixed: ClassVar[int] = 3
    size: np.ndarray


def refused(samples, rate=0.5):
    if samples < rate:
        raise UserError(f"{samples} are too few: at least {rate}", samples)
'''

SAME_MEANING = {
    "comment": PROGRAM.replace("# the library", "# ours"),
    "module docstring": PROGRAM.replace('"""A module."""', ""),
    "function docstring": PROGRAM.replace("One step", "A stride\n\n    of some length"),
    "class docstring": PROGRAM.replace('"""Nothing."""', "pass"),
    "layout": PROGRAM.replace("    return norms", "\n\n    return (\n        norms").replace(
        '\u0378"', '\u0378"\n    )'
    ),
    "quotes": PROGRAM.replace('"a" "b"', "u'ab'"),
    "spelling of numbers": PROGRAM.replace("0.1", "1e-1"),
    "help text": PROGRAM.replace("training samples", "samples of the task"),
    "unit": PROGRAM.replace(', unit="1"', ""),
    "annotation of an argument": PROGRAM.replace(
        "step(x, *, scale=None)", "step(x: float, *, scale: float | None = None)"
    ),
    "annotation of what is returned": PROGRAM.replace("rate=0.5):", "rate=0.5) -> None:"),
    "annotation of a variable": PROGRAM.replace("RATE = 0.1", "RATE: float = 0.1"),
    "annotation of a field": PROGRAM.replace("np.ndarray", '"np.ndarray"'),
    "imports for annotations": PROGRAM.replace(
        "RATE = 0.1",
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nRATE = 0.1\n"
        "if TYPE_CHECKING:\n    import lib.weights\n",
    ),
    "words of an error": PROGRAM.replace("are too few", "do not do"),
    "values told by an error": PROGRAM.replace(": at least {rate}", ""),
    "text after f-string": PROGRAM.replace("'text' 'more'", "'textmore'").replace('f"{x!r', '"" f"{x!r'),
}

OTHER_MEANING = {
    "constant": PROGRAM.replace("0.1", "0.2"),
    "constant of another type": PROGRAM.replace("RATE = 0.1", "RATE = '0.1'"),
    "bool for a number": PROGRAM.replace("1e400", "True"),
    "name": PROGRAM.replace("scale", "factor"),
    "default": PROGRAM.replace("scale=None", "scale"),
    "operator": PROGRAM.replace(") * (", ") + ("),
    "format": PROGRAM.replace("!r:>", "!s:>"),
    "text of an f-string": PROGRAM.replace(" and ", " or "),
    "bytes": PROGRAM.replace("xff", "xfe"),
    "order": PROGRAM.replace('y, b"\\xff"', 'b"\\xff", y'),
    "default of a parameter": PROGRAM.replace("parameter(16", "parameter(17"),
    "limit of a parameter": PROGRAM.replace("minimum=1", "minimum=2"),
    "type of a parameter": PROGRAM.replace("samples: int", "samples: float"),
    "field that is none": PROGRAM.replace("ClassVar[int]", "int"),
    "field without annotation": PROGRAM.replace("fixed: ClassVar[int]", "fixed"),
    "another error": PROGRAM.replace("raise UserError", "raise ValueError"),
    "what an error is of": PROGRAM.replace('{rate}", samples)', '{rate}", rate)'),
    "when an error is raised": PROGRAM.replace("samples < rate", "samples <= rate"),
    "import": PROGRAM.replace("as norms", "as other").replace("norms.size", "other.size"),
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
    return code_digest.closure_digest(tree({"program.py": source}), "program")


@pytest.mark.parametrize("source", SAME_MEANING.values(), ids=SAME_MEANING)
def test_blind_to_what_means_nothing(tree, source):
    assert source != PROGRAM
    assert of_source(tree, source) == of_source(tree, PROGRAM)


@pytest.mark.parametrize("source", OTHER_MEANING.values(), ids=OTHER_MEANING)
def test_sees_what_means_something(tree, source):
    assert source != PROGRAM
    assert of_source(tree, source) != of_source(tree, PROGRAM)


def test_value_is_the_same_on_every_python(tree):
    """Taken with Python 3.11, 3.12 and 3.13, whose syntax trees of these f-strings all differ."""
    strings = PROGRAM.partition("\n\nclass Parameters")[0]
    assert of_source(tree, strings) == "87f07c1a67bd02030b451910927c136e7b47b4ab79cf653f6c48f0533e333e0d"


LIBRARY = {
    "run.py": "def main():\n    from pkg import work, VALUE\n    import pkg.sub.deep as d\n",
    "unrelated.py": "",
    "pkg/__init__.py": "VALUE = 1\n",
    "pkg/work.py": "import numpy.linalg\nfrom pkg.names import *\n",
    "pkg/names.py": "import both\n",
    "pkg/sub/__init__.py": "",
    "pkg/sub/deep.py": "if False:\n    import pkg.work\n",
    "pkg/sub/idle.py": "",
    "both.py": "THE_MODULE = 1\n",
    "both/__init__.py": "THE_PACKAGE = 1\n",
}


def test_closure_follows_every_local_import(tree):
    root = tree(LIBRARY)
    assert list(code_digest.closure(root, "run")) == [
        "both", "pkg", "pkg.names", "pkg.sub", "pkg.sub.deep", "pkg.work", "run",
    ]  # fmt: skip
    assert list(code_digest.closure_files(root, "run")) == [
        "both/__init__.py", "pkg/__init__.py", "pkg/names.py", "pkg/sub/__init__.py", "pkg/sub/deep.py", "pkg/work.py",
        "run.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("edited", "changes"),
    [("pkg/names.py", True), ("pkg/__init__.py", True), ("both/__init__.py", True), ("both.py", False),
     ("pkg/sub/idle.py", False), ("unrelated.py", False)],
)  # fmt: skip
def test_edit_of_another_module(tree, edited, changes):
    root = tree(LIBRARY)
    before = code_digest.closure_digest(root, "run")
    tree({edited: LIBRARY[edited] + "edited = 1\n"})
    assert (code_digest.closure_digest(root, "run") != before) is changes


def test_plug_ins_are_part_of_the_closure_in_any_order(tree):
    root = tree(LIBRARY)
    both = code_digest.closure_digest(root, "run", "unrelated")
    assert both == code_digest.closure_digest(root, "unrelated", "run") != code_digest.closure_digest(root, "run")


def test_place_and_names_of_the_root_do_not_count(tree):
    here, there = tree(LIBRARY), tree(LIBRARY, root="elsewhere/deeper")
    assert code_digest.closure_digest(here, "run") == code_digest.closure_digest(there, "run")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import os\n\nfrom . import x\n", "scripts/pkg/bad.py, line 3: relative import"),
        ("from ..x import y\n", "scripts/pkg/bad.py, line 1: relative import"),
        ("x = 1\ny = (\n", "scripts/pkg/bad.py, line 2: "),
        ("\0", "scripts/pkg/bad.py"),
    ],
)
def test_names_file_and_line(tree, source, sentence):
    root = tree({"run.py": "import pkg.bad\n", "pkg/__init__.py": "", "pkg/bad.py": source})
    with pytest.raises(UserError) as caught:
        code_digest.closure(root, "run")
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_memo_changes_nothing_and_follows_the_source(tree, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    def fresh(root):
        code_digest._meaning.cache_clear()
        return code_digest.closure_digest(root, "run")

    root = tree(LIBRARY)
    first = fresh(root)
    memo = root / "pkg/__pycache__/work.meaning"
    assert memo.is_file()
    assert fresh(root) == first
    memo.write_text("damaged")
    assert fresh(root) == first
    stat = (root / "pkg/work.py").stat()
    tree({"pkg/work.py": LIBRARY["pkg/work.py"].replace("linalg", "random")})
    os.utime(root / "pkg/work.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))  # an edit that times do not show
    assert fresh(root) != first


OURS = {"carryover", "carryover.errors", "carryover.provenance", "carryover.provenance.code_digest"}
OURS |= {"carryover.provenance.meaning", "carryover.provenance.writing"}
