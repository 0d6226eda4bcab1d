"""Sets of images as a caller asks for them: scikit-learn's digits, and published files, written here byte by byte."""

import gzip
import hashlib
import struct
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import download_images
from carryover.tasks.images import CIFAR10, IDX_FILES, PUBLISHED, images, unit_pixels
from toy.refusal import refused

MNIST, FIRST = PUBLISHED["mnist"], IDX_FILES[0]
LABELS = {"mnist": [0, 9, 5, 3, 1], "cifar-10": [0, 9, 5, 3, 1], "cifar-100": [0, 99, 5, 31, 1],
          "stl-10": [0, 9, 3, 3, 1]}  # fmt: skip


def test_without_a_folder_they_are_the_digits_of_scikit_learn():
    found, digits = images(), load_digits()
    assert (len(found.train), len(found.test), found.classes) == (1438, 359, 10)
    assert found.train.shape[1:] == found.test.shape[1:] == (1, 8, 8)
    np.testing.assert_array_equal(np.concatenate([found.train, found.test])[:, 0] * 16, digits.images)
    np.testing.assert_array_equal([*found.train_labels, *found.test_labels], digits.target)
    assert set(found.train_labels) == set(found.test_labels) == set(range(10))
    assert found.train.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pixels_are_shares_of_white(dtype):
    found = unit_pixels(np.arange(256, dtype=np.uint8), dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [dtype(level) / dtype(255) for level in range(256)])
    digits = images().test
    np.testing.assert_array_equal(unit_pixels(digits, dtype), digits)
    assert not np.shares_memory(unit_pixels(digits), digits)


def test_a_set_and_its_folder_go_together():
    said = "the digits come with scikit-learn and not from x: leave the folder out."
    assert refused(images, "digits", "x") == said
    said = refused(images, "stl-10")
    assert said == "images of stl-10 are read from a local folder: name the one that holds its files."


def test_without_a_folder_fashion_mnist_is_that_of_debian(tmp_path, monkeypatch):
    fashion = PUBLISHED["fashion-mnist"]
    assert fashion.installed == "/usr/share/datasets/fashion-mnist"
    monkeypatch.setitem(PUBLISHED, "fashion-mnist", replace(fashion, installed=str(tmp_path)))
    said = refused(images, "fashion-mnist")
    assert said.startswith(f"{tmp_path}/{FIRST} is missing: put")
    assert "Debian's package dataset-fashion-mnist" in said


def packed(array):
    """An array of bytes in the IDX format."""
    head = bytes([0, 0, 8, array.ndim]) + b"".join(struct.pack(">I", size) for size in array.shape)
    return head + array.astype(np.uint8).tobytes()


def bytes_of(image):
    """The planes of an image, row by row."""
    _, height, width = image.shape
    return bytes(image[c, row, column] for c in range(3) for row in range(height) for column in range(width))


def written(kind, parts):
    """{name: content} of the files of a set whose images and labels are `parts`, training and test."""
    (train, train_labels), (test, test_labels) = parts
    if kind == "mnist":
        arrays = train[:, 0], np.array(train_labels), test[:, 0], np.array(test_labels)
        return {name: packed(array) for name, array in zip(IDX_FILES, arrays, strict=True)}
    if kind == "stl-10":  # planes are column by column, and labels from 1
        return {
            "train_X.bin": b"".join(bytes_of(image.swapaxes(1, 2)) for image in train),
            "train_y.bin": bytes(label + 1 for label in train_labels),
            "test_X.bin": b"".join(bytes_of(image.swapaxes(1, 2)) for image in test),
            "test_y.bin": bytes(label + 1 for label in test_labels),
        }
    coarse = b"\x07" if kind == "cifar-100" else b""
    records = [
        [coarse + bytes([label]) + bytes_of(image) for image, label in zip(*part, strict=True)] for part in parts
    ]
    if kind == "cifar-100":
        return {"train.bin": b"".join(records[0]), "test.bin": b"".join(records[1])}
    batches = {f"data_batch_{number}.bin": record for number, record in enumerate(records[0], 1)}
    return batches | {"test_batch.bin": b"".join(records[1])}


@pytest.mark.parametrize("kind", LABELS)
def test_files_hold_what_was_written(kind, tmp_path, monkeypatch):
    """Plain and gzipped, in the folder and in the one in it that the archive unpacks to."""
    rng, published = np.random.default_rng(0), PUBLISHED[kind]
    shape = {"mnist": (1, 4, 3), "stl-10": (3, 96, 96)}.get(kind, (3, 32, 32))
    parts = [(rng.integers(256, size=(count, *shape)), LABELS[kind][:count]) for count in (5, 3)]
    files = written(kind, parts)
    records = {name: (len(files[name]) // size, size) for name, (_, size) in published.records.items()}
    checksums = [hashlib.md5(files[name]).hexdigest() for name in IDX_FILES if name in files]
    monkeypatch.setitem(PUBLISHED, kind, replace(published, records=records, checksums=checksums))
    zipped = {f"{name}.gz": gzip.compress(content) for name, content in files.items()}
    for place, content in ((tmp_path, files), (tmp_path / published.unpacked, zipped if kind == "mnist" else files)):
        place.mkdir(exist_ok=True)
        for name in content:
            (place / name).write_bytes(content[name])
        found = images(kind, tmp_path)
        of_parts = (found.train, found.train_labels), (found.test, found.test_labels)
        for (pixels, labels), (expected, numbers) in zip(of_parts, parts, strict=True):
            assert (pixels.dtype, labels.dtype) == (np.uint8, np.int64)
            np.testing.assert_array_equal(pixels, expected)
            np.testing.assert_array_equal(labels, numbers)
        assert found.classes == 1 + max(LABELS[kind])
        on_disk = getattr(found.train, "filename", None) is not None
        assert on_disk == (kind in ("cifar-100", "stl-10"))
        for name in content:
            (place / name).unlink()


@pytest.mark.parametrize("kind", LABELS)
def test_missing_files_and_others_than_the_published_are_named_with_their_place(kind, tmp_path):
    published = PUBLISHED[kind]
    name, (count, size) = next(iter(published.records.items()), (FIRST, (0, 0)))
    put = f"put {name} of {published.title} ({published.source}) into {tmp_path}."
    assert refused(images, kind, tmp_path) == f"{tmp_path / name} is missing: {put}"
    (tmp_path / name).write_bytes(b"12345")
    wrong = f"5 bytes, not {count * size}"
    if kind == "mnist":
        wrong = f"the MD5 checksum {hashlib.md5(b'12345').hexdigest()}, not {MNIST.checksums[0]}"
    assert refused(images, kind, tmp_path) == f"{tmp_path / name} has {wrong}: {put}"


@pytest.mark.parametrize("keep", [slice(0, -6), slice(5, None)], ids=["truncated", "not packed"])
def test_a_damaged_gzip_file_is_named(tmp_path, keep):
    path = tmp_path / f"{FIRST}.gz"
    path.write_bytes(gzip.compress(packed(np.arange(5)))[keep])
    assert refused(images, "mnist", tmp_path).startswith(f"{path} cannot be read (")


def test_jpeg_files_are_read_by_class_and_counted(tmp_path, monkeypatch):
    kind = "cifar-10-jpeg"
    folders = {"train": (20, 0), "test": (10, 0)}
    monkeypatch.setitem(PUBLISHED, kind, replace(PUBLISHED[kind], records=folders))
    for part, label, number in product(folders, range(10), range(2)):
        if part == "train" or not number:
            path = tmp_path / part / CIFAR10[label] / f"{number:04}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (32, 32), (20 * label, 100 * number, 30)).save(path, quality=95)
    found = images(kind, tmp_path)
    assert found.train_labels.tolist() == np.repeat(range(10), 2).tolist()
    assert found.test_labels.tolist() == list(range(10))
    expected = [[20 * label, 100 * number, 30] for label, number in product(range(10), range(2))]
    np.testing.assert_allclose(found.train.mean((2, 3)), expected, atol=3)
    assert "images: cifar-10-jpeg" in refused(images, "cifar-10", tmp_path)
    path.write_bytes(path.read_bytes()[:100])
    assert refused(images, kind, tmp_path).startswith(f"{path} cannot be read (")
    path.unlink()
    assert f"{path.parent} has 0 JPEG files, not 1" in refused(images, kind, tmp_path)


def test_downloaded_files_are_the_published_ones_or_are_not_kept(tmp_path, monkeypatch):
    rng, place = np.random.default_rng(0), tmp_path / "mirror"
    files = written("mnist", [(rng.integers(256, size=(count, 1, 4, 3)), [0] * count) for count in (5, 3)])
    checksums = [hashlib.md5(files[name]).hexdigest() for name in IDX_FILES]
    monkeypatch.setitem(PUBLISHED, "mnist", replace(MNIST, checksums=checksums))
    monkeypatch.chdir(tmp_path)
    place.mkdir()
    words = ["mnist", "--source", f"{place.as_uri()}/"]
    assert f"{FIRST}.gz cannot be had" in refused(download_images.main, words)
    for name, content in files.items():
        (place / f"{name}.gz").write_bytes(gzip.compress(content))
    (place / f"{FIRST}.gz").write_bytes(gzip.compress(b"other"))
    assert "has the MD5 checksum" in refused(download_images.main, words)
    assert not (tmp_path / "data").exists()
    (place / f"{FIRST}.gz").write_bytes(gzip.compress(files[FIRST]))
    download_images.main(words)
    assert len(images("mnist", "data/mnist").train) == 5
