"""Sets of images as a caller asks for them."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from carryover.errors import UserError
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


def test_a_set_in_files_keeps_its_parts(monkeypatch):
    train, test = ((np.full((n, 1, 2, 3), n, dtype=np.uint8), np.arange(n)) for n in (4, 2))
    monkeypatch.setitem(module.READERS, "mnist", {Path("folder"): (train, test)}.get)
    found = images("mnist", "folder")
    for part, expected in zip((found.train, found.train_labels, found.test, found.test_labels), (*train, *test),
                              strict=True):  # fmt: skip
        np.testing.assert_array_equal(part, expected)
    assert found.classes == 4


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
        ("digits", "x", "the digits come with scikit-learn and not from x: leave the folder out."),
        ("stl-10", "", "images of stl-10 are read from a local folder: name the one that holds its files."),
    ],
)
def test_a_set_and_its_folder_go_together(source, folder, said):
    with pytest.raises(UserError) as caught:
        images(source, folder)
    assert str(caught.value) == said


def test_without_a_folder_fashion_mnist_is_that_of_debian(tmp_path, monkeypatch):
    assert module.INSTALLED["fashion-mnist"] == Path("/usr/share/datasets/fashion-mnist")
    monkeypatch.setitem(module.INSTALLED, "fashion-mnist", tmp_path)
    said = rf"^{tmp_path}/train-images-idx3-ubyte is missing: put the published .* Debian's package dataset-fashion-"
    with pytest.raises(UserError, match=said):
        images("fashion-mnist")
