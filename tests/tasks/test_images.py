"""Sets of images as a caller asks for them."""

import struct
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from carryover.errors import UserError
from carryover.tasks import image_files
from carryover.tasks import images as module
from carryover.tasks.images import images, unit_pixels


def test_without_a_folder_they_are_the_digits_of_scikit_learn():
    found, digits = images(), load_digits()
    assert (len(found.train), len(found.test), found.classes) == (1438, 359, 10)
    assert found.train.shape[1:] == found.test.shape[1:] == (1, 8, 8)
    np.testing.assert_array_equal(np.concatenate([found.train, found.test])[:, 0] * 16, digits.images)
    np.testing.assert_array_equal([*found.train_labels, *found.test_labels], digits.target)
    assert set(found.train_labels) == set(found.test_labels) == set(range(10))
    assert found.train.dtype == np.float32


def test_a_set_in_files_keeps_its_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(image_files, "_check_md5", lambda *_: None)
    for part, size in (("train", 4), ("t10k", 2)):
        pixels, labels = np.arange(size * 6, dtype=np.uint8), np.arange(size, dtype=np.uint8)
        (tmp_path / f"{part}-images-idx3-ubyte").write_bytes(
            struct.pack(">4B3I", 0, 0, 8, 3, size, 2, 3) + bytes(pixels)
        )
        (tmp_path / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, size) + bytes(labels))
    found = images("mnist", tmp_path)
    assert (found.train.shape, found.test.shape, found.classes) == ((4, 1, 2, 3), (2, 1, 2, 3), 4)
    np.testing.assert_array_equal(found.test_labels, [0, 1])
    np.testing.assert_array_equal(found.train.ravel(), np.arange(24))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pixels_are_shares_of_white(dtype):
    found = unit_pixels(np.arange(256, dtype=np.uint8), dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [dtype(level) / dtype(255) for level in range(256)])
    digits = images().test
    np.testing.assert_array_equal(unit_pixels(digits, dtype), digits)
    assert not np.shares_memory(unit_pixels(digits), digits)


@pytest.mark.parametrize(
    ("source", "folder", "said"),
    [
        ("cifar", "x", "images are of digits, mnist, fashion-mnist, cifar-10, cifar-100, stl-10, not of 'cifar'."),
        ("digits", "x", "the digits come with scikit-learn and not from x: leave the folder out."),
        ("stl-10", "", "images of stl-10 are read from a local folder: name the one that holds its files."),
    ],
)
def test_a_set_and_its_folder_go_together(source, folder, said):
    with pytest.raises(UserError) as caught:
        images(source, folder)
    assert str(caught.value) == said


def test_without_a_folder_fashion_mnist_is_that_of_debian(tmp_path, monkeypatch):
    package, place = module.INSTALLED["fashion-mnist"]
    monkeypatch.setattr(module, "INSTALLED", {"fashion-mnist": (package, tmp_path / "none")})
    with pytest.raises(UserError) as caught:
        images("fashion-mnist")
    assert str(caught.value) == (
        "images of fashion-mnist are read from a local folder: name the one that holds its files, or install Debian's "
        f"package dataset-fashion-mnist, which puts them into {tmp_path / 'none'}."
    )
    (tmp_path / "none").mkdir()
    with pytest.raises(UserError, match=r"train-images-idx3-ubyte is missing: put the file .* of Fashion-MNIST \("):
        images("fashion-mnist")
    assert place == Path("/usr/share/datasets/fashion-mnist")
