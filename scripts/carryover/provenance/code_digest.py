"""Digest of a program's meaning: a script, its plug-ins and every local module they import, directly or not.

What a source means, and what of it does not count, is said in `meaning`.

The search is static. It follows every `import` statement that counts, wherever it stands (in a function, in a branch),
with the `__init__` of all parent packages, and cannot see what is imported by a computed name
(`importlib.import_module`, `__import__`): the caller names such modules, as a job names its plug-ins.

Standard library only, for the Snakefile imports it.
"""

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import meaning, writing


def closure(root: str | Path, *names: str) -> dict[str, str]:
    """Digest of each local module in the import closure of `names`.

    `root` is the folder that stands on Python's path, so that module `a.b` is `root/a/b.py` or
    `root/a/b/__init__.py`; modules that are not below it (installed ones) are left out. Where all
    `names` are of packages, so is what stands beside those: an installed library stands among all others.

    Returns {dotted module name: SHA-256 in hexadecimal}, sorted by name.

    Raises UserError (a ValueError), naming file and line, for a relative import or a file that cannot be parsed, and
    naming the module where one of `names` does not exist below `root`.
    """
    return {name: digest for name, _, digest in _closure(Path(root), names)}


def closure_files(root: str | Path, *names: str) -> dict[str, str]:
    """As `closure`, by file: {path relative to `root`, with forward slashes: SHA-256}, sorted by path."""
    return dict(sorted((file, digest) for _, file, digest in _closure(Path(root), names)))


def closure_digest(root: str | Path, *names: str) -> str:
    """One SHA-256 in hexadecimal over `closure(root, *names)`: it changes when the meaning of any module does."""
    return combined(closure(root, *names))


def closure_record(root: str | Path, *names: str) -> dict[str, str | dict[str, str]]:
    """{"digest": `closure_digest`, "files": `closure_files`} of one search."""
    modules = _closure(Path(root), names)
    files = sorted((file, digest) for _, file, digest in modules)
    return {"digest": combined({name: digest for name, _, digest in modules}), "files": dict(files)}


def combined(parts: dict[str, str]) -> str:
    """SHA-256 over a mapping of names to digests, whatever its order."""
    return hashlib.sha256(ascii(sorted(parts.items())).encode()).hexdigest()


def _closure(root: Path, names: tuple[str, ...]) -> list[tuple[str, str, str]]:
    """(module, file relative to root, digest) of each module of the closure, sorted by module."""
    for name in names:
        if _module_file(root, name) is None:
            raise UserError(f"no module {name} below {root.name}/: expected {name.replace('.', '/')}.py")
    packages = {name.partition(".")[0] for name in names} if all("." in name for name in names) else None
    modules, seen, todo = [], set(), list(names)
    while todo:
        name = todo.pop()
        if name in seen or (packages and name.partition(".")[0] not in packages):
            continue
        seen.add(name)
        if "." in name:
            todo.append(name.rpartition(".")[0])  # importing a.b runs a/__init__.py first
        if name.endswith(".*"):
            todo += _children(root, name.removesuffix(".*"))
        elif file := _module_file(root, name):
            shown = file.relative_to(root).as_posix()
            digest, imports = _read(file, f"{root.name}/{shown}")
            modules.append((name, shown, digest))
            todo += imports
    return sorted(modules)


def _module_file(root: Path, name: str) -> Path | None:
    """File that `import name` runs, a package before a module of the same name as Python has it; None if not local."""
    base = os.path.join(root, *name.split("."))  # os.path: most names are not local, and pathlib is slower than stat
    for file in (os.path.join(base, "__init__.py"), f"{base}.py"):
        if os.path.isfile(file):
            return Path(file)
    return None


def _children(root: Path, package: str) -> list[str]:
    """Modules that `from package import *` may import: which ones is for its `__all__` to say, so all of them."""
    folder = root.joinpath(*package.split("."))
    names = [path.stem for path in folder.iterdir()] if folder.is_dir() else []
    return [f"{package}.{name}" for name in names if name.isidentifier() and name != "__init__"]


def _read(file: Path, shown: str) -> tuple[str, tuple[str, ...]]:
    try:
        return _meaning(file.read_bytes(), file.parent / "__pycache__" / f"{file.stem}.meaning")
    except SyntaxError as error:
        where = f"{shown}, line {error.lineno}" if error.lineno else shown
        raise UserError(f"{where}: {error.msg}") from None
    except ValueError as error:  # null bytes
        raise UserError(f"{shown}: cannot be parsed, {error}") from None


@cache  # by content, so that an edit is seen within one process as well
def _meaning(source: bytes, memo: Path) -> tuple[str, tuple[str, ...]]:
    """(digest of what the source means, names that it may import), remembered in the file `memo` between processes.

    Parsing is most of the cost of a record. The memo stands beside the bytecode that Python keeps for the same reason,
    and holds for one source and one version of `meaning`, by their hash, never by times.
    """
    key = hashlib.sha256(_definition() + source).hexdigest()
    with suppress(OSError, ValueError):
        known, digest, *imports = memo.read_text("utf-8").split()
        if known == key:
            return digest, tuple(imports)
    tree, imports = meaning.of(source)
    # ascii, not repr: which characters repr escapes depends on the version's Unicode tables
    digest = hashlib.sha256(ascii(tree).encode()).hexdigest()
    if not sys.dont_write_bytecode:
        with suppress(OSError, UserError), writing.temporary(memo) as unfinished:
            unfinished.write_text(" ".join((key, digest, *imports)), "utf-8")
            os.replace(unfinished, memo)
    return digest, tuple(imports)


@cache
def _definition() -> bytes:
    return Path(meaning.__file__).read_bytes()
