"""The published files of image sets, each format read as it is: MNIST, CIFAR-100 (binary version) and STL-10.

Nothing is downloaded, and nothing is unpickled. Every reader takes a local folder and returns, for training and test,
(images (N, C, H, W) uint8, labels (N,) int64 from 0). A published packed file must have the published MD5 checksum, and
a plain one the published number of images, unless `other` accepts files in the same format and of any size. Whatever is
wrong raises UserError, one sentence that names the file, what was expected and where to put it.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from carryover.errors import UserError

Part = tuple[np.ndarray, np.ndarray]  # images (N, C, H, W), labels (N,)

UNSIGNED_BYTE = 0x08
SIDE = 28
# {file: (dimensions, sizes of MNIST, MD5 of the published file with the suffix .gz)}
MNIST_FILES = {
    "train-images-idx3-ubyte": (3, (60_000, SIDE, SIDE), "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    "train-labels-idx1-ubyte": (1, (60_000,), "d53e105ee54ea40749a09fcbcd1e9432"),
    "t10k-images-idx3-ubyte": (3, (10_000, SIDE, SIDE), "9fb629c4189551a2d022fa330f9573f3"),
    "t10k-labels-idx1-ubyte": (1, (10_000,), "ec29112dd5afa0611ce80d1b7f02629c"),
}
DAMAGE = EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError


@dataclass(frozen=True)
class Published:
    """Files that hold records of one size and nothing else, and the archive that they are published in."""

    title: str
    folder: str  # in the archive, whose name it is before .tar.gz
    checksum: str  # MD5 of the archive
    files: dict[str, tuple[int, int]]  # {file: (records, bytes of a record)}

    @property
    def archive(self) -> str:
        return f"{self.folder}.tar.gz"


CIFAR_SHAPE, STL_SHAPE = (3, 32, 32), (3, 96, 96)  # as stored: STL-10's planes are column by column
CIFAR100 = Published(
    "CIFAR-100",
    "cifar-100-binary",
    "03b5dce01913d631647c71ecec9e9cb8",
    {"train.bin": (50_000, 2 + 3 * 32 * 32), "test.bin": (10_000, 2 + 3 * 32 * 32)},
)
STL10 = Published(
    "STL-10",
    "stl10_binary",
    "91f7769df0f17e558f3565bffb0c7dfb",
    {"train_X.bin": (5_000, 3 * 96 * 96), "train_y.bin": (5_000, 1), "test_X.bin": (8_000, 3 * 96 * 96),
     "test_y.bin": (8_000, 1)},
)  # fmt: skip


def mnist(folder: str | Path, other: bool = False) -> tuple[Part, Part]:
    """MNIST's training and test images, (N, 1, 28, 28), in four files each plain or with the suffix .gz.

    A file in the IDX format has two zero bytes, one byte for the type of the numbers, one for the number of dimensions,
    each dimension's size as a big-endian 32-bit integer, and the numbers themselves. `other` accepts other files, such
    as Fashion-MNIST, with other labels too.
    """
    folder, parts = Path(folder), []
    for part in ("train", "t10k"):
        (_, images), (path, labels) = (
            _idx(folder, f"{part}-{kind}-ubyte", other) for kind in ("images-idx3", "labels-idx1")
        )
        _check_count(folder, f"{part}-images-idx3-ubyte", images, f"{part}-labels-idx1-ubyte", labels)
        parts.append((images[:, None], _labels(path, labels, 0, 256 if other else 10, "MNIST")))
    if parts[0][0].shape[1:] != parts[1][0].shape[1:]:
        raise UserError(f"{folder}: the images of train and t10k differ in size: put files there of one set.")
    return tuple(parts)


def cifar100(folder: str | Path, other: bool = False) -> tuple[Part, Part]:
    """CIFAR-100's training and test images, (N, 3, 32, 32), labelled by its 100 fine classes.

    A record of train.bin or test.bin is a byte for the coarse class, one for the fine class, and the red, green and
    blue plane, row by row. They stay on disk where they lie plain in `folder` or in its folder cifar-100-binary, and
    are read into memory (184 MB) from cifar-100-binary.tar.gz.
    """
    parts = []
    for path, records in _records(Path(folder), CIFAR100, other).values():
        parts.append((records[:, 2:].reshape(-1, *CIFAR_SHAPE), _labels(path, records[:, 1], 0, 100, CIFAR100.title)))
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
        _check_count(path.parent, f"{part}_X.bin", images, f"{part}_y.bin", labels)
        images = images.reshape(-1, *STL_SHAPE).swapaxes(2, 3)
        parts.append((images, _labels(label_path, labels[:, 0], 1, 10, STL10.title)))
    return tuple(parts)


def _records(folder, published, other):
    """{file: (path, records (N, bytes))}, checked; plain files stay on disk, and go before the archive."""
    archive, names = folder / published.archive, published.files
    places = [place for place in (folder, folder / published.folder) if any((place / name).is_file() for name in names)]
    if not places and archive.is_file():
        members = _unpacked(archive, published, None if other else published.checksum)
        return {name: (archive, _shaped(archive, name, members[name], published, other)) for name in names}
    place = places[0] if places else folder
    for name in names:
        if not (place / name).is_file():
            wanted = name if places else f"{name} or {published.archive}"
            raise UserError(f"{place / name} is missing: put the file {wanted} of {published.title} into {place}.")
    return {name: (place / name, _shaped(place / name, name, None, published, other)) for name in names}


def _shaped(path, name, content, published, other):
    """Records (N, bytes) of the content of the file `name`, in an archive at `path`; None for the plain file there."""
    count, size = published.files[name]
    length = path.stat().st_size if content is None else len(content)
    named = "" if path.name == name else f"{name} of "
    if length % size or not length:
        what = f"has {named}{length} bytes, which are not whole records of {size} bytes"
        raise _refused(path, what, published.title)
    if not other and length != count * size:
        what = f"has {named}{length // size} records, not the {count} of {published.title}"
        raise _refused(path, what, published.title)
    if content is not None:
        return np.frombuffer(content, dtype=np.uint8).reshape(-1, size)
    try:
        return np.memmap(path, dtype=np.uint8, mode="r").reshape(-1, size)
    except OSError as error:
        raise _unreadable(path, error, published.title) from None


def _unpacked(archive, published, checksum):
    """{file: bytes} of an archive, which is read up to the last file that is wanted; `checksum` None for any."""
    contents = {}
    try:
        with archive.open("rb") as file:
            if checksum is not None:
                _check_sum(archive, hashlib.file_digest(file, _md5).hexdigest(), checksum, published.title)
                file.seek(0)
            with tarfile.open(fileobj=file, mode="r:gz") as members:
                for member in members:
                    name = PurePosixPath(member.name).name
                    if member.isfile() and name in published.files:
                        contents[name] = members.extractfile(member).read()
                    if len(contents) == len(published.files):
                        return contents
    except DAMAGE:
        raise _refused(archive, "is truncated or no tar archive packed by gzip", published.title) from None
    except OSError as error:
        raise _unreadable(archive, error, published.title) from None
    missing = next(name for name in published.files if name not in contents)
    raise _refused(archive, f"holds no file {missing}", published.title)


def _idx(folder, name, other):
    """(path, array) of one of MNIST's files, checked."""
    dimensions, sizes, checksum = MNIST_FILES[name]
    path = next((path for path in (folder / f"{name}.gz", folder / name) if path.is_file()), None)
    if path is None:
        raise UserError(f"{folder / name} is missing: put the file {name} or {name}.gz of MNIST into {folder}.")
    array = _parsed(path, _bytes(path, None if other else checksum), dimensions)
    if not other and array.shape != sizes:
        raise _refused(path, f"holds {_times(array.shape)} numbers, not the {_times(sizes)} of MNIST")
    return path, array


def _bytes(path, checksum):
    """What a file holds, unpacked; `checksum` None for a file that need not be the published one."""
    try:
        content = path.read_bytes()
        if path.suffix != ".gz":
            return content
        if checksum is not None:
            _check_sum(path, _md5(content).hexdigest(), checksum)
        return gzip.decompress(content)
    except DAMAGE:
        raise _refused(path, "is truncated or not packed by gzip") from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _parsed(path, content, dimensions):
    """The numbers of a file in the IDX format; UserError where it is none, or has other sizes than it says."""
    expected = struct.pack(">HBB", 0, UNSIGNED_BYTE, dimensions)
    if content[:4] != expected:
        what = f"starts with the bytes {content[:4].hex(' ') or 'of nothing'}, not {expected.hex(' ')}"
        raise _refused(path, f"{what} (IDX format, unsigned bytes, {dimensions} dimensions)")
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise _refused(path, "ends before its sizes")
    sizes = struct.unpack(f">{dimensions}I", content[4:start])
    if len(content) - start != np.prod(sizes, dtype=object):
        raise _refused(path, f"holds {len(content) - start} numbers, not the {_times(sizes)} that it announces")
    if len(content) == start:
        raise _refused(path, "holds nothing")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(sizes)


def _labels(path, labels, first, count, title):
    """Labels from 0, int64, of a file whose labels are `count` whole numbers from `first`."""
    labels = labels.astype(np.int64) - first
    wrong = labels[(labels < 0) | (labels >= count)]
    if len(wrong):
        what = f"holds the label {wrong[0] + first}, and labels are {first} to {first + count - 1}"
        raise _refused(path, what, title)
    return labels


def _check_count(folder, image_name, images, label_name, labels):
    if len(images) != len(labels):
        raise UserError(
            f"{folder}: {image_name} has {len(images)} images and {label_name} {len(labels)} labels, of which there "
            "must be as many: put files there that belong together."
        )


def _check_sum(path, digest, checksum, title="MNIST"):
    if digest != checksum:
        raise _refused(path, f"has the MD5 checksum {digest}, not {checksum} as published", title)


def _md5(content=b""):
    return hashlib.md5(content, usedforsecurity=False)


def _refused(path, what, title="MNIST"):
    return UserError(f"{path} {what}: put the published file {path.name} of {title} into {path.parent}.")


def _unreadable(path, error, title="MNIST"):
    return _refused(path, f"cannot be read ({error.strerror})", title)


def _times(sizes):
    return " × ".join(map(str, sizes))
