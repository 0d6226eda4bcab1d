"""The files of installed packages against what the packages themselves say of them, and bytecode against its source."""

import base64
import csv
import importlib.util
import marshal
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path, PurePosixPath

from carryover.provenance import store


def compare(names, threads=None):
    """({package: sentence} of those of these that are not as they were installed, [packages without hashes]).

    A package's RECORD has the SHA-256 of each file as it was installed; whoever edits that as well is not noticed, nor
    is a file that was added. Bytecode has no hash there: it must be what its source gives.
    """
    edited, unknown = {}, []
    with ThreadPoolExecutor(threads) as pool:
        for name in sorted(names):
            folder, hashes = _record(name)
            same = pool.map(lambda file, folder=folder: _sha256(folder / file), hashes)
            others = [file for (file, known), found in zip(hashes.items(), same, strict=True) if known != found]
            if others:
                more = f", nor are {len(others) - 1} more" if others[1:] else ""
                edited[name] = f"{name} has been edited: {others[0]} is not what its RECORD says{more}"
            elif file := next(filter(forged_bytecode, (folder / file for file in hashes)), None):
                file = file.relative_to(folder)
                edited[name] = f"{name} has been edited: the bytecode of {file} is not that of its source"
            if not hashes:
                unknown.append(name)
    return edited, unknown


def forged_bytecode(source):
    """Whether this Python would take, in place of a source file, bytecode that is not what the source gives."""
    if source.suffix != ".py":
        return False
    try:
        content, cached = source.read_bytes(), Path(importlib.util.cache_from_source(source)).read_bytes()
        if not _taken(cached[:16], content, source.stat()):
            return False
        with warnings.catch_warnings(action="ignore"):  # of what others wrote
            return marshal.loads(cached[16:]) != compile(content, source, "exec", dont_inherit=True)
    except (OSError, EOFError, SyntaxError, TypeError, ValueError):
        return False  # there is none, or Python cannot take it either


def _taken(head, content, status):
    """Whether Python takes bytecode with this head: it has its source's time and size or hash, or asks for no look."""
    flags = int.from_bytes(head[4:8], "little")
    if head[:4] != importlib.util.MAGIC_NUMBER:
        return False
    if flags:
        return flags == 1 or head[8:] == importlib.util.source_hash(content)
    return head[8:] == b"".join((int(n) % 2**32).to_bytes(4, "little") for n in (status.st_mtime, status.st_size))


def _record(name):
    """(folder of packages, {file in it: its SHA-256 as RECORD writes it}) of a package; no files without a RECORD."""
    distribution = metadata.distribution(name)
    rows = csv.reader((distribution.read_text("RECORD") or "").splitlines())
    # What is installed outside of the folder, such as programs, is not imported.
    hashes = {row[0]: row[1] for row in rows if len(row) > 1 and ".." not in PurePosixPath(row[0]).parts}
    return Path(distribution.locate_file("")), {f: h for f, h in hashes.items() if h.startswith("sha256=")}


def _sha256(path):
    """The hash of a file as RECORD writes it; None where it cannot be read."""
    try:
        digest = bytes.fromhex(store.sha256(path))
    except store.DataError:
        return None
    return f"sha256={base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
