"""Images of digits and their classes: those that scikit-learn ships, or MNIST from a local folder.

MNIST is read from the four published files in the IDX format: two zero bytes, one byte for the type of the numbers, one
for the number of dimensions, each dimension's size as a big-endian 32-bit integer, and the numbers themselves. Nothing
is downloaded, and nothing is unpickled.
"""

from __future__ import annotations

import gzip
import hashlib
import struct
import zlib
from pathlib import Path

import numpy as np

from carryover.errors import UserError

UNSIGNED_BYTE = 0x08
SIDE = 28
# {file: (dimensions, sizes of MNIST, MD5 of the published file with the suffix .gz)}
FILES = {
    "train-images-idx3-ubyte": (3, (60_000, SIDE, SIDE), "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
    "train-labels-idx1-ubyte": (1, (60_000,), "d53e105ee54ea40749a09fcbcd1e9432"),
    "t10k-images-idx3-ubyte": (3, (10_000, SIDE, SIDE), "9fb629c4189551a2d022fa330f9573f3"),
    "t10k-labels-idx1-ubyte": (1, (10_000,), "ec29112dd5afa0611ce80d1b7f02629c"),
}


def images(mnist_folder: str | Path = "", other: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(pixels (N, d) float64 in [0, 1], labels (N,) int) of a set of images, its training and test images together.

    Args:
        mnist_folder: folder with the four files of MNIST as published, each plain or with the suffix .gz; empty for
            the 1797 digits of 8 × 8 pixels that scikit-learn ships.
        other: accept other files in the same format and of any size, such as Fashion-MNIST. Otherwise a file with the
            suffix must have the published MD5 checksum, and a plain one the published sizes.

    Raises UserError, one sentence that names the file, what was expected and where to put it, for a file that is
    missing, is not in the format, is truncated, or is not MNIST's.
    """
    if not str(mnist_folder):
        from sklearn.datasets import load_digits  # slow to import, and not needed for MNIST

        digits = load_digits()
        return digits.data / 16.0, digits.target
    pixels, labels = [], []
    for part in ("train", "t10k"):
        found, names = (
            _read(Path(mnist_folder), f"{part}-{kind}-ubyte", other) for kind in ("images-idx3", "labels-idx1")
        )
        if len(found) != len(names):
            raise UserError(
                f"{mnist_folder}: {part}-images-idx3-ubyte has {len(found)} images and {part}-labels-idx1-ubyte "
                f"{len(names)} labels, of which there must be as many: put files there that belong together."
            )
        pixels.append(found.reshape(len(found), -1) / 255.0)
        labels.append(names.astype(np.int64))
    if pixels[0].shape[1] != pixels[1].shape[1]:
        raise UserError(f"{mnist_folder}: the images of train and t10k differ in size: put files there of one set.")
    return np.concatenate(pixels), np.concatenate(labels)


def _read(folder, name, other):
    """The array in one file, checked."""
    dimensions, sizes, checksum = FILES[name]
    path = next((path for path in (folder / f"{name}.gz", folder / name) if path.is_file()), None)
    if path is None:
        raise UserError(f"{folder / name} is missing: put the file {name} or {name}.gz of MNIST into {folder}.")
    array = _parsed(path, _bytes(path, None if other else checksum), dimensions)
    if not other and array.shape != sizes:
        raise UserError(_refusal(path, f"holds {_times(array.shape)} numbers, not the {_times(sizes)} of MNIST"))
    return array


def _bytes(path, checksum):
    """What a file holds, unpacked; `checksum` None for a file that need not be the published one."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(_refusal(path, f"cannot be read ({error.strerror})")) from None
    if path.suffix != ".gz":
        return content
    found = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if checksum not in (None, found):
        raise UserError(_refusal(path, f"has the MD5 checksum {found}, not {checksum} as published"))
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise UserError(_refusal(path, "is truncated or not packed by gzip")) from None


def _parsed(path, content, dimensions):
    """The numbers of a file in the IDX format; UserError where it is none, or has other sizes than it says."""
    expected = struct.pack(">HBB", 0, UNSIGNED_BYTE, dimensions)
    if content[:4] != expected:
        what = f"starts with the bytes {content[:4].hex(' ') or 'of nothing'}, not {expected.hex(' ')}"
        raise UserError(_refusal(path, f"{what} (IDX format, unsigned bytes, {dimensions} dimensions)"))
    start = 4 + 4 * dimensions
    if len(content) < start:
        raise UserError(_refusal(path, "ends before its sizes"))
    sizes = struct.unpack(f">{dimensions}I", content[4:start])
    if len(content) - start != np.prod(sizes, dtype=object):
        what = f"holds {len(content) - start} numbers, not the {_times(sizes)} that it announces"
        raise UserError(_refusal(path, what))
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(sizes)


def _refusal(path, what):
    return f"{path} {what}: put the published file {path.name} of MNIST into {path.parent}."


def _times(sizes):
    return " × ".join(map(str, sizes))
