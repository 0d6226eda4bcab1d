"""What readers of published image files share: checks, and one sentence for whatever is wrong, which names the file,
what was expected, where the published one comes from and where to put it."""

import gzip
import hashlib
import os
import tarfile
import zlib
from dataclasses import dataclass

import numpy as np

from carryover.errors import UserError

Part = tuple[np.ndarray, np.ndarray]
"""Images (N, C, H, W) uint8, labels (N,) int64 from 0."""

DAMAGE = EOFError, zlib.error, gzip.BadGzipFile, tarfile.TarError


@dataclass(frozen=True)
class Published:
    """A set of images as it was published."""

    title: str
    source: str  # where it comes from


def labels_from_0(path, labels, first, count, published):
    """Labels from 0, int64, of a file whose labels are `count` whole numbers from `first`."""
    labels = labels.astype(np.int64) - first
    wrong = labels[(labels < 0) | (labels >= count)]
    if len(wrong):
        what = f"holds the label {wrong[0] + first}, and labels are {first} to {first + count - 1}"
        raise refused(path, what, published)
    return labels


def check_count(folder, image_name, images, label_name, labels):
    """Raise UserError unless there is a label for each image."""
    if len(images) != len(labels):
        raise UserError(
            f"{folder}: {image_name} has {len(images)} images and {label_name} {len(labels)} labels, of which there "
            "must be as many: put files there that belong together."
        )


def is_file(path, published):
    """Whether there is such a file; UserError where that cannot be known."""
    try:
        return path.is_file()
    except OSError as error:
        raise unreadable(path, error, published) from None


def missing(folder, name, wanted, published):
    """The error that a folder lacks a file, for which the files `wanted` would do."""
    what = "is there, but it is no file" if os.path.lexists(folder / name) else "is missing"
    if folder.is_file():
        return UserError(f"{folder} is a file: name the folder that has {wanted} of {published.title}.")
    return UserError(
        f"{folder / name} {what}: put the file {wanted} of {published.title} ({published.source}) into {folder}."
    )


def refused(path, what, published):
    """The error that a file is not the published one, for `what` is wrong with it."""
    return UserError(
        f"{path} {what}: put the published file {path.name} of {published.title} ({published.source}) into "
        f"{path.parent}."
    )


def unreadable(path, error, published):
    """The error that the system gave for a file."""
    return refused(path, f"cannot be read ({error.strerror})", published)


def md5(content=b""):
    """MD5, by which files are published, of what has no secret."""
    return hashlib.md5(content, usedforsecurity=False)
