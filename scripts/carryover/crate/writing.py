"""A crate as a folder or as a ZIP file, each file of which is hashed again after it was written."""

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

from carryover.errors import UserError
from carryover.provenance import store
from carryover.provenance.record_index import CRATE


def write_folder(crate, contents, folder):
    """Write a crate and its `Contents` into `folder`. Raises UserError, naming the file, where a hash is another."""
    folder = Path(folder)
    for place, (source, sha256) in contents.files.items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        _compare(source, sha256, store.sha256(target))
    (folder / CRATE).write_text(_text(crate), encoding="utf-8")


def write_zip(crate, contents, path):
    """As `write_folder`, into a ZIP file; what needs packing is packed already, so it is stored as it is."""
    with zipfile.ZipFile(path, "w") as archive:
        for place, (source, _) in contents.files.items():
            with Path(source).open("rb") as file, archive.open(_entry(place), "w", force_zip64=True) as member:
                shutil.copyfileobj(file, member)
        archive.writestr(_entry(CRATE), _text(crate))
    with zipfile.ZipFile(path) as archive:
        for place, (source, sha256) in contents.files.items():
            with archive.open(place) as member:
                _compare(source, sha256, hashlib.file_digest(member, "sha256").hexdigest())


def _entry(place):
    """A file in the archive, of no time: equal contents give equal bytes."""
    return zipfile.ZipInfo(str(place))


def _compare(source, expected, written):
    if written != expected:
        raise UserError(f"{source} is not what its record says: run again, or ask audit why")


def _text(crate):
    return json.dumps(crate.metadata.generate(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
