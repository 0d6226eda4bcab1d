"""Sets of images and their classes: the digits that scikit-learn ships, or a published set in a local folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from carryover.errors import UserError
from carryover.tasks.image_files import PUBLISHED, cifar, idx, stl10

READERS = {"mnist": idx, "fashion-mnist": idx, "cifar-10": cifar, "cifar-100": cifar, "stl-10": stl10}
INSTALLED = {"fashion-mnist": Path("/usr/share/datasets/fashion-mnist")}
"""{set: where Debian's package puts its files}."""
HELD_OUT = 5  # one in so many of the digits is for the test


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
    """The set of images `source`: "digits", "mnist", "fashion-mnist", "cifar-10", "cifar-100" (100 fine classes) or
    "stl-10" (the labelled images).

    Parameters
    ----------
    source : str
        The digits are scikit-learn's 1797 of 8 × 8 pixels, which come in one piece: the first four fifths are for
        training.
    folder : str or Path
        Where the published files are; empty for the digits, and for where Debian's package puts those of
        "fashion-mnist". Nothing is downloaded.

    Returns
    -------
    ImageSet

    Raises
    ------
    UserError
        For a folder that is given without need or not at all, and, naming the file, what was expected and where to put
        it, for files as `image_files` says.
    """
    if source == "digits":
        if str(folder):
            raise UserError(f"the digits come with scikit-learn and not from {folder}: leave the folder out.")
        return _digits()
    folder = folder or INSTALLED.get(source, "")
    if not folder:
        raise UserError(f"images of {source} are read from a local folder: name the one that holds its files.")
    train, test = READERS[source](Path(folder), PUBLISHED[source])
    return ImageSet(*train, *test, 1 + max(int(labels.max()) for _, labels in (train, test)))


def unit_pixels(images: np.ndarray, dtype: type = np.float32) -> np.ndarray:
    """Pixels in [0, 1] of the floating `dtype`, of images as in `ImageSet`; same shape, read into memory."""
    pixels = np.array(images, dtype=dtype)
    if images.dtype == np.uint8:
        pixels /= 255
    return pixels


def _digits():
    """The file that scikit-learn's load_digits reads: to import that takes longer than most trainings on it."""
    rows = np.loadtxt(Path(find_spec("sklearn").origin).parent / "datasets/data/digits.csv.gz", np.uint8, delimiter=",")
    pixels = rows[:, :-1].reshape(-1, 1, 8, 8).astype(np.float32) / 16  # exact: they are whole numbers from 0 to 16
    labels = rows[:, -1].astype(np.int64)
    cut = len(labels) - len(labels) // HELD_OUT
    return ImageSet(pixels[:cut], labels[:cut], pixels[cut:], labels[cut:], 10)
