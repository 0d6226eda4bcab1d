"""Digest of a program: of a script, its plug-ins, and every local definition that they refer to, directly or not.

A module counts by the definitions that are reached, and by its statements that define nothing, which run whenever it is
imported. So an edit of one function changes the digest of those programs alone that can call it. Digests are taken
over syntax trees without docstrings; neither these nor comments, layout and what is imported for annotations alone
(under `if TYPE_CHECKING`) count.

The search is static, and takes more rather than less: each name in a definition counts, whatever it means there; a
module that is used otherwise than by `module.name` counts as a whole. It cannot see what is imported by a computed name
(`importlib.import_module`): the caller names such modules, as a job names its plug-ins. Standard library only, for the
Snakefile imports it.
"""

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

from carryover.errors import UserError

_DEFINITION = Path(__file__).read_bytes() + sys.version.encode()
"""What a digest depends on besides the source."""
_INSTALLED = {"site-packages", "dist-packages"}
_ALL = "*"  # in place of a name: all definitions of a module


def closure(root: str | Path, *names: str) -> tuple[dict[str, str], set[str]]:
    """The local files that a program imports, by what it reaches in each, and the packages from elsewhere.

    Parameters
    ----------
    root
        The folder that stands on Python's path: module `a.b` is `root/a/b.py` or `root/a/b/__init__.py`. Among
        installed packages only Carryover itself is local.
    names
        Modules (`a.b`), single definitions (`a.b:function`), and patterns of data files that a program reads besides:
        `a/templates/*.j2`.

    Returns
    -------
    {path relative to `root`, with forward slashes: SHA-256}, sorted by path, and {name of package}.

    Raises
    ------
    UserError
        Naming file and line, for a relative import or a file that cannot be parsed; for a name that does not exist.
    """
    root, data, outside = Path(root), {}, set()
    parts: dict[str, dict[str, str]] = {}
    # Steps are (module, name of a definition, `_ALL`, or None for what an import runs), for data files (pattern, None).
    todo = [(name, None) if "/" in name else (name.partition(":")[0], name.partition(":")[2] or _ALL) for name in names]
    entries = {module for module, _ in todo}
    seen: set[tuple[str, str | None]] = set()
    file_of = cache(partial(_file, root))
    source_of: dict[str, dict[str, Any]] = {}
    reached_of: dict[str, dict[str, str]] = {}
    while todo:
        if (step := todo.pop()) in seen:
            continue
        seen.add(step)
        module, name = step
        if "/" in module:
            for found in root.glob(module):
                data[found.relative_to(root).as_posix()] = hashlib.sha256(found.read_bytes()).hexdigest()
            continue
        package, _, last = module.rpartition(".")
        if not (file := file_of(module)):
            if module in entries:
                raise UserError(f"no module {module} below {root.name}/: expected {module.replace('.', '/')}.py")
            if package and name and file_of(package):  # `last` is no module, but an object in one
                todo.append((package, last))
            else:
                outside.add(module.partition(".")[0])
            continue
        if module not in source_of:
            shown = file.relative_to(root).as_posix()
            try:
                source_of[module] = _parse(file.read_bytes(), file.parent / f"__pycache__/{file.stem}.meaning")
            except SyntaxError as error:
                raise UserError(f"{root.name}/{shown}, line {error.lineno}: {error.msg}") from None
            reached_of[module] = parts.setdefault(shown, {})
            todo.append((module, None))  # an import runs what defines nothing, and the packages above
        source, reached = source_of[module], reached_of[module]
        if name is None:
            reached[""], references = source["always"]
            todo += [(package, None)] * bool(package)
        elif name == _ALL:
            references = [f"{module}:{own}" for own in source["names"]] + [f"{star}:{_ALL}" for star in source["stars"]]
        elif name in source["names"]:
            reached[name], references = source["names"][name]
        elif name in source["imports"]:
            references = [source["imports"][name]]
        else:  # a module in a package, or a name of a star
            references = [f"{module}.{name}:{_ALL}" if file_of(f"{module}.{name}") else f"{module}:{_ALL}"]
        for reference in references:
            other, _, its_name = reference.partition(":")
            todo.append((other or module, its_name or None))
    digests = {shown: hashlib.sha256(json.dumps(reached, sort_keys=True).encode()).hexdigest()
               for shown, reached in parts.items()}  # fmt: skip
    packages = {name for name in outside - sys.stdlib_module_names if _file(root, name) is None}
    return dict(sorted((data | digests).items())), packages


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
def _parse(source: bytes, memo: Path) -> dict[str, Any]:
    """The definitions of a source, remembered in the file `memo`.

    Returns {"names": {name: [digest, references]}, "always": [digest, references] of the statements that define
    nothing, "imports": {name: reference} and "stars": modules of which all names are imported}. References are
    `module:name`, `:name` of the own module, and `module:` of an import alone.

    Parsing is most of the cost of a record. The memo stands next to the bytecode that Python keeps for the same reason,
    and holds for one source, one version of Python and of this module, never by times.
    """
    key = hashlib.sha256(_DEFINITION + source).hexdigest()
    with suppress(OSError, ValueError):
        known: dict[str, Any] = json.loads(memo.read_text("utf-8"))
        if known.pop("key", None) == key:
            return known
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            body[:] = [part for part in body if not _is_idle(part)]
    imports, stars, runs = _imports(ast.walk(tree))
    names: dict[str, list[ast.stmt]] = {}
    always = []
    for statement in tree.body:
        bound = _names_of(statement)
        for name in bound:
            names.setdefault(name, []).append(statement)
        if not isinstance(statement, ast.Import | ast.ImportFrom) and not (bound and _only_defines(statement)):
            always.append(statement)
    digest, references = _digest(always, imports, names)
    found = {
        "names": {name: _digest(statements, imports, names) for name, statements in names.items()},
        "always": [digest, sorted({*references, *(f"{module}:" for module in runs)})],
        "imports": imports,
        "stars": stars,
    }
    if not sys.dont_write_bytecode:
        with suppress(OSError):
            memo.parent.mkdir(exist_ok=True)
            memo.write_text(json.dumps({**found, "key": key}), "utf-8")
    return found


def _imports(nodes: Iterator[ast.AST]) -> tuple[dict[str, str], list[str], list[str]]:
    """All import statements among the nodes of a syntax tree; SyntaxError for a relative import.

    Returns {imported name: reference as in `_parse`}, [modules of `from module import *`], and [modules that the
    imports may execute].
    """
    names: dict[str, str] = {}
    stars: list[str] = []
    runs: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                runs.append(alias.name)
                names[alias.asname or alias.name.partition(".")[0]] = f"{alias.name}:{_ALL}"
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                message = "relative import; write it from the top, as in `from carryover.theory import norms`"
                raise SyntaxError(message, (None, node.lineno, None, None))
            for alias in node.names:  # b of `from a import b` may be a module a.b, too; `closure` finds out
                runs += [str(node.module), f"{node.module}.{alias.name}"]
                names[alias.asname or alias.name] = f"{node.module}:{alias.name}"
                stars += [str(node.module)] * (alias.name == "*")
    return names, stars, runs


def _digest(statements: list[ast.stmt], imports: dict[str, str], names: dict[str, Any]) -> tuple[str, list[str]]:
    """(SHA-256 of the syntax trees of statements of a module, sorted references to what they use, as in `_parse`).

    `imports` is {name: reference} of all imports of the module; the keys of `names` are the names that it defines.
    """
    references: set[str] = set()
    # Nodes of imported names before a dot: they refer to the one definition after the dot, not to the whole module.
    through: set[ast.expr] = set()
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in imports:
            module, _, name = imports[node.value.id].partition(":")  # `norms.size` of `from a import norms`
            references.add(f"{module}:{node.attr}" if name == _ALL else f"{module}.{name}:{node.attr}")
            through.add(node.value)
        elif isinstance(node, ast.Name) and node not in through:
            if node.id in imports:
                references.add(imports[node.id])
            if node.id in names:
                references.add(f":{node.id}")
    tree = "".join(ascii(ast.dump(statement)) for statement in statements)
    return hashlib.sha256(tree.encode()).hexdigest(), sorted(references)


def _names_of(statement: ast.stmt) -> list[str]:
    """The names that a statement defines, other than by an import."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [statement.name]
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    defined = (node for node in ast.walk(statement) if isinstance(node, ast.ClassDef | ast.FunctionDef))
    return list(dict.fromkeys([*(node.id for node in stored), *(node.name for node in defined)]))


def _only_defines(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but give names to values."""
    if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign):
        return True
    return isinstance(statement, ast.Assign) and all(
        isinstance(node, ast.Name | ast.Tuple | ast.List | ast.Starred) for node in statement.targets
    )


def _is_idle(node: ast.stmt) -> bool:
    """A docstring or another constant that stands alone, or imports for annotations alone."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING" and not node.orelse
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
