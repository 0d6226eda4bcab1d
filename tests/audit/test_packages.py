"""Files of installed packages are compared with the packages' own RECORD, and bytecode with its source."""

import base64
import hashlib
import importlib.util
import os
import py_compile
import sys
from pathlib import Path

import pytest

from carryover.audit import packages
from carryover.audit.software import Software
from carryover.commands import audit
from toy.small_project import EXACT
from workflow import mutations as m

INSTALLED = ("tried/__init__.py", "tried/data.bin", "tried/part.py")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on Python's path with the package `tried`, installed with bytecode as pip does it, and a program."""
    folder = tmp_path / "site-packages"
    rows = ["tried-1.0.dist-info/RECORD,,", "../bin/tried,sha256=x,1"]
    for name in INSTALLED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"name = {name!r}\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256((folder / name).read_bytes()).digest()).rstrip(b"=")
        rows.append(f"{name},sha256={digest.decode()},1")
        if name.endswith(".py"):
            py_compile.compile(folder / name)
    (folder / "tried-1.0.dist-info").mkdir()
    (folder / "tried-1.0.dist-info/RECORD").write_text("\n".join(rows))
    (folder / "tried-1.0.dist-info/METADATA").write_text("Name: tried\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return folder


def forge(source, text="name = 'forged'\n"):
    """Bytecode of another text, under the time and size of the source."""
    content, status = source.read_bytes(), source.stat()
    source.write_text(text)
    cached = Path(py_compile.compile(source))
    source.write_bytes(content)
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    head = cached.read_bytes()[:8]
    times = b"".join((int(n) % 2**32).to_bytes(4, "little") for n in (status.st_mtime, status.st_size))
    cached.write_bytes(head + times + cached.read_bytes()[16:])


def says(what):
    return ({"tried": f"tried has been edited: {what}"}, [])


def test_as_installed(site):
    assert packages.compare({"tried"}) == ({}, [])


@pytest.mark.parametrize("name", INSTALLED)
def test_an_edited_file_is_named(name, site):
    status = (site / name).stat()
    (site / name).write_text("name = 'edited'\n")
    os.utime(site / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert packages.compare({"tried"}) == says(f"{name} is not what its RECORD says")
    (site / INSTALLED[0]).unlink()
    more = ", nor are 1 more" if name != INSTALLED[0] else ""
    assert packages.compare({"tried"}) == says(f"{INSTALLED[0]} is not what its RECORD says{more}")


def test_forged_bytecode_is_named_where_python_takes_it(site):
    source = site / "tried/part.py"
    forge(source)
    assert packages.compare({"tried"}) == says("the bytecode of tried/part.py is not that of its source")
    os.utime(source, (1, 1))  # Python compiles it anew
    assert packages.compare({"tried"}) == ({}, [])
    for mode, taken in (("UNCHECKED_HASH", True), ("CHECKED_HASH", False)):
        content = source.read_bytes()
        source.write_text("name = 'forged'\n")
        py_compile.compile(source, invalidation_mode=py_compile.PycInvalidationMode[mode])
        source.write_bytes(content)
        assert packages.forged_bytecode(source) == taken
    Path(importlib.util.cache_from_source(source)).write_bytes(b"damaged")
    assert packages.compare({"tried"}) == ({}, [])


def test_a_package_without_hashes_is_not_said_to_be_as_installed(site):
    (site / "tried-1.0.dist-info/RECORD").unlink()
    assert packages.compare({"tried"}) == ({}, ["tried"])


@pytest.mark.workflow
@pytest.mark.xdist_group("audit")
def test_an_audit_looks_where_it_is_asked_to(site, project, monkeypatch, capsys):
    m.record(EXACT, lambda record: record["environment"].update(versions={"tried": "1.0"}))(project)
    look = Software.look
    monkeypatch.setattr(Software, "look", lambda self, names, threads: look(self, names & {"tried"}, threads))
    (site / INSTALLED[1]).write_text("edited")
    forge(project.folder / "scripts/carryover/families/diagonal/exact.py", "FORGED = 1\n")
    audit.main([])
    assert "Not checked: the files of installed packages" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        audit.main(["--packages"])
    said = capsys.readouterr().out
    assert "Not checked" not in said
    assert "the bytecode of scripts/carryover/families/diagonal/exact.py is not that of its source" in said
    m.delete("scripts/carryover/families/diagonal/__pycache__/*")(project)
    audit.main(["--packages"])  # a warning
    assert f"STALE-ENV  {EXACT}  tried has been edited: tried/data.bin is not what" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        audit.main(["--packages", "--strict"])
