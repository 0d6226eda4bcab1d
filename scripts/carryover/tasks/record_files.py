"""Files that hold records of one size: CIFAR-100 (binary version) and STL-10, plain or in the published archive.

An archive must have the published MD5 checksum, and what was unpacked from it the published number of images, unless
`other` accepts any. Nothing is unpickled. Errors are those of `image_files`.
"""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from carryover.tasks import image_files
from carryover.tasks.image_files import Part, Published


@dataclass(frozen=True)
class Archive(Published):
    """Files that hold records of one size and nothing else, and the archive that they are published in."""

    folder: str  # in the archive, whose name it is before .tar.gz
    checksum: str  # MD5 of the archive
    files: dict[str, tuple[int, int]]  # {file: (records, bytes of a record)}

    @property
    def archive(self) -> str:
        return f"{self.folder}.tar.gz"


CIFAR_SHAPE, STL_SHAPE = (3, 32, 32), (3, 96, 96)  # as stored: STL-10's planes are column by column
CIFAR100 = Archive(
    "CIFAR-100",
    "www.cs.toronto.edu/~kriz/cifar.html",
    "cifar-100-binary",
    "03b5dce01913d631647c71ecec9e9cb8",
    {"train.bin": (50_000, 2 + 3 * 32 * 32), "test.bin": (10_000, 2 + 3 * 32 * 32)},
)
STL10 = Archive(
    "STL-10",
    "cs.stanford.edu/~acoates/stl10",
    "stl10_binary",
    "91f7769df0f17e558f3565bffb0c7dfb",
    {"train_X.bin": (5_000, 3 * 96 * 96), "train_y.bin": (5_000, 1), "test_X.bin": (8_000, 3 * 96 * 96),
     "test_y.bin": (8_000, 1)},
)  # fmt: skip


def cifar100(folder: str | Path, other: bool = False) -> tuple[Part, Part]:
    """CIFAR-100's training and test images, (N, 3, 32, 32), labelled by its 100 fine classes.

    A record of train.bin or test.bin is a byte for the coarse class, one for the fine class, and the red, green and
    blue plane, row by row. They stay on disk where they lie plain in `folder` or in its folder cifar-100-binary, and
    are read into memory (184 MB) from cifar-100-binary.tar.gz.
    """
    parts = []
    for path, records in _records(Path(folder), CIFAR100, other).values():
        labels = image_files.labels_from_0(path, records[:, 1], 0, 100, CIFAR100)
        parts.append((records[:, 2:].reshape(-1, *CIFAR_SHAPE), labels))
    return tuple(parts)


def stl10(folder: str | Path, other: bool = False) -> tuple[Part, Part]:
    """STL-10's labelled training and test images, (N, 3, 96, 96); the file's labels 1 to 10 become 0 to 9.

    train_X.bin and test_X.bin hold the red, green and blue plane of every image, column by column; train_y.bin and
    test_y.bin a byte for the class. The images stay on disk where they lie plain in `folder` or in its folder
    stl10_binary, and are read into memory (359 MB) from stl10_binary.tar.gz, which takes much longer to go through.
    """
    files = _records(Path(folder), STL10, other)
    parts = []
    for part in ("train", "test"):
        (path, images), (label_path, labels) = files[f"{part}_X.bin"], files[f"{part}_y.bin"]
        image_files.check_count(path.parent, f"{part}_X.bin", images, f"{part}_y.bin", labels)
        images = images.reshape(-1, *STL_SHAPE).swapaxes(2, 3)
        parts.append((images, image_files.labels_from_0(label_path, labels[:, 0], 1, 10, STL10)))
    return tuple(parts)


def _records(folder, published, other):
    """{file: (path, records (N, bytes))}, checked; plain files stay on disk, and go before the archive."""
    archive, names = folder / published.archive, published.files
    places = [folder, folder / published.folder]
    places = [place for place in places if any(image_files.is_file(place / name, published) for name in names)]
    if not places and image_files.is_file(archive, published):
        members = _unpacked(archive, published, None if other else published.checksum)
        return {name: (archive, _shaped(archive, name, members[name], published, other)) for name in names}
    place = places[0] if places else folder
    for name in names:
        if not image_files.is_file(place / name, published):
            wanted = name if places else f"{name} or {published.archive}"
            raise image_files.missing(place, name, wanted, published)
    return {name: (place / name, _shaped(place / name, name, None, published, other)) for name in names}


def _shaped(path, name, content, published, other):
    """Records (N, bytes) of the content of the file `name`, in an archive at `path`; None for the plain file there."""
    count, size = published.files[name]
    length = path.stat().st_size if content is None else len(content)
    named = "" if path.name == name else f"{name} of "
    if length % size or not length:
        what = f"has {named}{length} bytes, which are not whole records of {size} bytes"
        raise image_files.refused(path, what, published)
    if not other and length != count * size:
        what = f"has {named}{length // size} records, not the {count} of {published.title}"
        raise image_files.refused(path, what, published)
    if content is not None:
        return np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
    try:
        return np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, size)
    except OSError as error:
        raise image_files.unreadable(path, error, published) from None


def _unpacked(archive, published, checksum):
    """{file: bytes} of an archive, which is read up to the last file that is wanted; `checksum` None for any."""
    contents = {}
    try:
        with archive.open("rb") as file:
            if checksum is not None:
                _check_sum(archive, hashlib.file_digest(file, image_files.md5).hexdigest(), checksum, published)
                file.seek(0)
            with tarfile.open(fileobj=file, mode="r:gz") as members:
                for member in members:
                    name = PurePosixPath(member.name).name
                    if member.isfile() and name in published.files:
                        contents[name] = members.extractfile(member).read()
                    if len(contents) == len(published.files):
                        return contents
    except image_files.DAMAGE:
        raise image_files.refused(archive, "is truncated or no tar archive packed by gzip", published) from None
    except OSError as error:
        raise image_files.unreadable(archive, error, published) from None
    missing = next(name for name in published.files if name not in contents)
    raise image_files.refused(archive, f"holds no file {missing}", published)


def _check_sum(path, digest, checksum, published):
    if digest != checksum:
        raise image_files.refused(path, f"has the MD5 checksum {digest}, not {checksum} as published", published)
