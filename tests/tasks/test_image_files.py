"""Published image files, written here byte by byte in the real formats."""

import gzip
import hashlib
import struct
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.tasks.image_files import IDX_FILES, PUBLISHED, cifar, idx, stl10


def packed(array):
    """An array of bytes in the IDX format."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(struct.pack(">I", size) for size in array.shape)
    return head + array.astype(np.uint8).tobytes()


MNIST, IMAGES = PUBLISHED["mnist"], IDX_FILES[0]


def refused(read, *arguments):
    with pytest.raises(UserError) as caught:
        read(*arguments)
    return str(caught.value)


# MNIST's format


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    found = {}
    for part, count in {"train": 5, "t10k": 3}.items():
        found[f"{part}-images-idx3-ubyte"] = rng.integers(256, size=(count, 4, 3))
        found[f"{part}-labels-idx1-ubyte"] = rng.integers(10, size=count)
    return found


@pytest.fixture(params=["", ".gz"], ids=["plain", "gzip"])
def folder(request, arrays, tmp_path):
    for name, array in arrays.items():
        put(tmp_path / f"{name}{request.param}", packed(array))
    return tmp_path


def put(path, content):
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_idx_files_hold_what_was_written(folder, arrays):
    checksums = [hashlib.md5(packed(arrays[name])).hexdigest() for name in IDX_FILES]
    for part, (images, labels) in zip(("train", "t10k"), idx(folder, replace(MNIST, checksums=checksums)), strict=True):
        assert (images.dtype, labels.dtype) == (np.uint8, np.int64)
        np.testing.assert_array_equal(images[:, 0], arrays[f"{part}-images-idx3-ubyte"])
        np.testing.assert_array_equal(labels, arrays[f"{part}-labels-idx1-ubyte"])


def test_other_idx_files_than_the_published_are_refused(folder, arrays):
    path, checksum = next(folder.glob(f"{IMAGES}*")), hashlib.md5(packed(arrays[IMAGES])).hexdigest()
    assert refused(idx, folder, MNIST) == (
        f"{path} has the MD5 checksum {checksum}, not {MNIST.checksums[0]}: put the published file "
        f"{path.name} of MNIST (yann.lecun.com/exdb/mnist) into {folder}."
    )


@pytest.mark.parametrize("keep", [slice(0, -6), slice(5, None)], ids=["truncated", "not packed"])
def test_a_damaged_gzip_file_is_named(tmp_path, keep):
    path = tmp_path / f"{IMAGES}.gz"
    path.write_bytes(gzip.compress(packed(np.arange(5)))[keep])
    assert refused(idx, tmp_path, MNIST).startswith(f"{path} cannot be read (")


def test_a_missing_file_is_named_with_its_place(tmp_path):
    assert refused(idx, tmp_path, MNIST) == (
        f"{tmp_path / IMAGES} is missing: put the published file {IMAGES} of MNIST ({MNIST.source}) into {tmp_path}."
    )


# Records


def cifar_files(parts):
    """A record is coarse label, fine label, and the planes of an image, row by row."""
    return {
        f"{part}.bin": b"".join(
            bytes([7, label])
            + bytes(image[c, row, column] for c in range(3) for row in range(32) for column in range(32))
            for image, label in zip(images, labels, strict=True)
        )
        for part, (images, labels) in parts.items()
    }


def cifar10_files(parts):
    """As CIFAR-100's without the coarse label; five files share the training images."""
    files = {}
    for part, (images, labels) in parts.items():
        records = [bytes([label]) + bytes(image.ravel().tolist()) for image, label in zip(images, labels, strict=True)]
        if part == "test":
            files["test_batch.bin"] = b"".join(records)
        else:
            files |= {f"data_batch_{number}.bin": record for number, record in enumerate(records, 1)}
    return files


def stl_files(parts):
    """Images are planes, column by column; labels are from 1."""
    files = {}
    for part, (images, labels) in parts.items():
        order = [(c, row, column) for c in range(3) for column in range(96) for row in range(96)]
        files[f"{part}_X.bin"] = b"".join(bytes(image[place] for place in order) for image in images)
        files[f"{part}_y.bin"] = bytes(label + 1 for label in labels)
    return files


KINDS = {
    "cifar-10": (cifar, cifar10_files, 32, [0, 9, 5, 3, 1]),
    "cifar-100": (cifar, cifar_files, 32, [0, 99, 5, 31, 1]),
    "stl-10": (stl10, stl_files, 96, [0, 9, 3, 3, 1]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_records_hold_what_was_written(kind, tmp_path):
    (read, write, side, labels), published = KINDS[kind], PUBLISHED[kind]
    rng = np.random.default_rng(0)
    parts = {
        part: (rng.integers(256, size=(count, 3, side, side)), labels[:count])
        for part, count in {"train": 5, "test": 3}.items()
    }
    files = write(parts)
    records = {name: (len(files[name]) // size, size) for name, (_, size) in published.records.items()}
    published = replace(published, records=records)
    for place in (tmp_path, tmp_path / published.unpacked):
        place.mkdir(exist_ok=True)
        for name, content in files.items():
            (place / name).write_bytes(content)
        for (images, expected), found in zip(parts.values(), read(tmp_path, published), strict=True):
            assert (found[0].dtype, found[1].dtype) == (np.uint8, np.int64)
            np.testing.assert_array_equal(found[0], images)
            np.testing.assert_array_equal(found[1], expected)
        for name in files:
            (place / name).unlink()


@pytest.mark.parametrize("kind", ["cifar-100", "stl-10"])  # CIFAR-10's training images are in five files
def test_records_stay_on_disk(kind, tmp_path):
    read, published = KINDS[kind][0], PUBLISHED[kind]
    for name, (count, size) in published.records.items():
        with (tmp_path / name).open("wb") as file:
            if size == 1:
                file.write(b"\x01" * count)
            else:
                file.truncate(count * size)
    tracemalloc.start()
    try:
        parts = read(tmp_path, published)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert [len(images) for images, _ in parts] == [count for count, size in published.records.values() if size > 1]


@pytest.mark.parametrize("kind", KINDS)
def test_missing_records_and_others_than_the_published_are_named_with_their_place(kind, tmp_path):
    read, published = KINDS[kind][0], PUBLISHED[kind]
    name, (count, size) = next(iter(published.records.items()))
    source = f"of {published.title} ({published.source}) into {tmp_path}."
    assert refused(read, tmp_path, published) == f"{tmp_path / name} is missing: put the published file {name} {source}"
    (tmp_path / name).write_bytes(b"12345")
    assert refused(read, tmp_path, published) == (
        f"{tmp_path / name} has 5 bytes, not {count * size}: put the published file {name} {source}"
    )
