"""Digest of a program: a script, its plug-ins and every local module they import, directly or not.

It is taken over syntax trees without docstrings; neither these nor comments, layout and what is imported for
annotations alone (under `if TYPE_CHECKING`) count. The search is static: it follows every `import` statement, with the
`__init__` of all parent packages, and cannot see what is imported by a computed name (`importlib.import_module`): the
caller names such modules, as a job names its plug-ins. Standard library only, for the Snakefile imports it.
"""

import ast
import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from carryover.errors import UserError

_DEFINITION = Path(__file__).read_bytes() + sys.version.encode()
"""What a digest depends on besides the source."""
_INSTALLED = {"site-packages", "dist-packages"}


def closure(root: str | Path, *names: str) -> tuple[dict[str, str], set[str]]:
    """The local files in the import closure of the modules `names`, and the packages that it imports from elsewhere.

    Parameters
    ----------
    root
        The folder that stands on Python's path: module `a.b` is `root/a/b.py` or `root/a/b/__init__.py`. Among
        installed packages only Carryover itself is local.
    names
        Modules, and patterns of data files that a program reads besides: `a/templates/*.j2`.

    Returns
    -------
    {path relative to `root`, with forward slashes: SHA-256}, sorted by path, and {name of package}.

    Raises
    ------
    UserError
        Naming file and line, for a relative import or a file that cannot be parsed; for a name that does not exist.
    """
    root, digests, outside, seen, todo = Path(root), {}, set(), set(), list(names)
    while todo:
        if (name := todo.pop()) in seen:
            continue
        seen.add(name)
        if "/" in name:
            for file in root.glob(name):
                digests[file.relative_to(root).as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
            continue
        if "." in name:
            todo.append(name.rpartition(".")[0])  # importing a.b runs a/__init__.py first
        if file := _file(root, name):
            shown = file.relative_to(root).as_posix()
            try:
                digests[shown], imports = _parsed(file.read_bytes(), file.parent / f"__pycache__/{file.stem}.meaning")
            except SyntaxError as error:
                raise UserError(f"{root.name}/{shown}, line {error.lineno}: {error.msg}") from None
            todo += imports
        elif name in names:
            raise UserError(f"no module {name} below {root.name}/: expected {name.replace('.', '/')}.py")
        else:
            outside.add(name.partition(".")[0])
    packages = {name for name in outside - sys.stdlib_module_names if _file(root, name) is None}
    return dict(sorted(digests.items())), packages


def closure_files(root: str | Path, *names: str) -> dict[str, str]:
    """The files of `closure`."""
    return closure(root, *names)[0]


def _file(root: Path, name: str) -> Path | None:
    """File that `import name` runs, a package before a module of the same name as Python has it; None if not local."""
    if not _INSTALLED.isdisjoint(root.parts) and name.partition(".")[0] != "carryover":
        return None
    base = os.path.join(root, *name.split("."))  # most names are not local, and pathlib is slower
    files = (os.path.join(base, "__init__.py"), f"{base}.py")
    return next((Path(file) for file in files if os.path.isfile(file)), None)


@cache  # by content, so that an edit is seen within one process as well
def _parsed(source: bytes, memo: Path) -> tuple[str, list[str]]:
    """(digest of the syntax tree, names that the source may import), remembered in the file `memo`.

    Parsing is most of the cost of a record. The memo stands next to the bytecode that Python keeps for the same reason,
    and holds for one source, one version of Python and of this module, never by times.
    """
    key = hashlib.sha256(_DEFINITION + source).hexdigest()
    with suppress(OSError, ValueError):
        digest, *imports, known = memo.read_text("utf-8").split()
        if known == key:
            return digest, imports
    tree, names = ast.parse(source), set()
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [part for part in body if not _is_idle(part)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                message = "relative import; write it from the top, as in `from carryover.theory import norms`"
                raise SyntaxError(message, (None, node.lineno, None, None))
            # b of `from a import b` may be a module or a name in a
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    digest, imports = hashlib.sha256(ascii(ast.dump(tree)).encode()).hexdigest(), sorted(names)
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            memo.parent.mkdir(exist_ok=True)
            memo.write_text(" ".join((digest, *imports, key)), "utf-8")  # with the key at its end it is whole
    return digest, imports


def _is_idle(node: ast.stmt) -> bool:
    """A docstring or another constant that stands alone, or imports for annotations alone."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
