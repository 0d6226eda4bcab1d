"""The files of MNIST and of Fashion-MNIST, packed or plain.

A file in the IDX format has two zero bytes, one byte for the type of the numbers, one for the number of dimensions,
each dimension's size as a big-endian 32-bit integer, and the numbers themselves. It must hold what was published, by
its MD5 checksum, unless `other` accepts files of any size, with other labels too. Errors are those of `image_files`.
"""

from __future__ import annotations

import gzip
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from carryover.errors import UserError
from carryover.tasks import image_files
from carryover.tasks.image_files import Part, Published

UNSIGNED_BYTE = 0x08
SIDE = 28
IDX_FILES = {
    "train-images-idx3-ubyte": (60_000, SIDE, SIDE),
    "train-labels-idx1-ubyte": (60_000,),
    "t10k-images-idx3-ubyte": (10_000, SIDE, SIDE),
    "t10k-labels-idx1-ubyte": (10_000,),
}
"""{file: sizes} of MNIST and of Fashion-MNIST."""


@dataclass(frozen=True)
class Four(Published):
    """Four files in MNIST's format, of the sizes `IDX_FILES`."""

    checksums: dict[str, str]  # {file: MD5 of what it holds, unpacked: gzip packs the same in several ways}


MNIST = Four(
    "MNIST",
    "yann.lecun.com/exdb/mnist",
    {
        "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
        "train-labels-idx1-ubyte": "a25bea736e30d166cdddb491f175f624",
        "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        "t10k-labels-idx1-ubyte": "27ae3e4e09519cfbb04c329615203637",
    },
)
FASHION_MNIST = Four(
    "Fashion-MNIST",
    "github.com/zalandoresearch/fashion-mnist, or Debian's package dataset-fashion-mnist",
    {
        "train-images-idx3-ubyte": "f4a8712d7a061bf5bd6d2ca38dc4d50a",
        "train-labels-idx1-ubyte": "9018921c3c673c538a1fc5bad174d6f9",
        "t10k-images-idx3-ubyte": "8181f5470baa50b63fa0f6fddb340f0a",
        "t10k-labels-idx1-ubyte": "15d484375f8d13e6eb1aabb0c3f46965",
    },
)


def idx(folder: str | Path, other: bool = False, published: Four = MNIST) -> tuple[Part, Part]:
    """Training and test images, (N, 1, 28, 28), in four files, each plain or with the suffix .gz."""
    folder, parts = Path(folder), []
    for part in ("train", "t10k"):
        (_, images), (path, labels) = (
            _idx(folder, f"{part}-{kind}-ubyte", other, published) for kind in ("images-idx3", "labels-idx1")
        )
        image_files.check_count(folder, f"{part}-images-idx3-ubyte", images, f"{part}-labels-idx1-ubyte", labels)
        parts.append((images[:, None], image_files.labels_from_0(path, labels, 0, 256 if other else 10, published)))
    if parts[0][0].shape[1:] != parts[1][0].shape[1:]:
        raise UserError(f"{folder}: the images of train and t10k differ in size: put files there of one set.")
    return tuple(parts)


def _idx(folder, name, other, published):
    """(path, array) of one of the four files, checked."""
    sizes = IDX_FILES[name]
    path = next((path for path in (folder / name, folder / f"{name}.gz") if image_files.is_file(path, published)), None)
    if path is None:
        raise image_files.missing(folder, name, f"{name} or {name}.gz", published)
    content = _bytes(path, published)
    array = _parsed(path, content, len(sizes), published)
    if not other:
        if array.shape != sizes:
            what = f"holds {_times(array.shape)} numbers, not the {_times(sizes)} of {published.title}"
            raise image_files.refused(path, what, published)
        _check_content(path, name, image_files.md5(content).hexdigest(), published)
    return path, array


def _check_content(path, name, digest, published):
    for known in (MNIST, FASHION_MNIST):
        if known is not published and digest == known.checksums[name]:
            raise image_files.refused(path, f"is that of {known.title}, not of {published.title}", published)
    if digest != published.checksums[name]:
        what = f"holds other numbers than {published.title}, of the MD5 checksum {digest}, not"
        raise image_files.refused(path, f"{what} {published.checksums[name]}", published)


def _bytes(path, published):
    """What a file holds, unpacked."""
    try:
        content = path.read_bytes()
        unpacked = gzip.decompress(content) if path.suffix == ".gz" else content
    except image_files.DAMAGE:
        raise image_files.refused(path, "is truncated or not packed by gzip", published) from None
    except OSError as error:
        raise image_files.unreadable(path, error, published) from None
    if not unpacked:
        raise image_files.refused(path, "is empty", published)
    return unpacked


def _parsed(path, content, dimensions, published):
    """The numbers of a file in the IDX format; UserError where it is none, or has other sizes than it says."""
    expected = struct.pack(">HBB", 0, UNSIGNED_BYTE, dimensions)
    if content[:4] != expected:
        what = f"starts with the bytes {content[:4].hex(' ')}, not {expected.hex(' ')}"
        raise image_files.refused(path, f"{what} (IDX format, unsigned bytes, {dimensions} dimensions)", published)
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise image_files.refused(path, "ends before its sizes", published)
    sizes = struct.unpack(f">{dimensions}I", content[4:start])
    if len(content) - start != np.prod(sizes, dtype=object):
        what = f"holds {len(content) - start} numbers, not the {_times(sizes)} that it announces"
        raise image_files.refused(path, what, published)
    if len(content) == start:
        raise image_files.refused(path, "holds nothing", published)
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(sizes)


def _times(sizes):
    return " × ".join(map(str, sizes))
