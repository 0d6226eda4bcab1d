"""Crops and mirror images against loops, and normalisation against NumPy on everything at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.errors import UserError
from carryover.tasks import augmentation
from carryover.tasks.augmentation import channel_statistics, normalised, random_crop, random_flip

invariant = settings(derandomize=True, deadline=None, max_examples=30)


def batch(count=6, height=5, width=4, channels=3, seed=0):
    return np.random.default_rng(seed).integers(1, 256, size=(count, channels, height, width), dtype=np.uint8)


def shifted(image, down, right):
    """The image (C, H, W) moved, zeros where nothing was."""
    found = np.zeros_like(image)
    _, height, width = image.shape
    for row in range(height):
        for column in range(width):
            if 0 <= row - down < height and 0 <= column - right < width:
                found[:, row, column] = image[:, row - down, column - right]
    return found


@invariant
@given(st.integers(0, 3), st.integers(0, 99))
def test_a_crop_is_the_image_moved_by_at_most_the_padding(padding, seed):
    images = batch(seed=seed)
    before = images.copy()
    found = random_crop(images, np.random.default_rng(seed), padding)
    assert (found.shape, found.dtype) == (images.shape, np.uint8)
    steps = range(-padding, padding + 1)
    for image, crop in zip(images, found, strict=True):
        assert any((shifted(image, down, right) == crop).all() for down in steps for right in steps)
    np.testing.assert_array_equal(found, random_crop(images, np.random.default_rng(seed), padding))
    np.testing.assert_array_equal(images, before)
    assert not np.shares_memory(found, images)


def test_half_of_the_images_are_mirrored():
    images = batch(count=2000)
    before = images.copy()
    found = random_flip(images, np.random.default_rng(0))
    same = (found == images).all((1, 2, 3))
    mirrored = np.array([(new == old[:, :, ::-1]).all() for new, old in zip(found, images, strict=True)])
    assert (same | mirrored).all()
    assert abs(mirrored.mean() - 0.5) < 5 * 0.5 / np.sqrt(2000)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, random_flip(images, np.random.default_rng(0)))
    np.testing.assert_array_equal(images, before)


@pytest.mark.parametrize("images", [batch(17), (batch(17, channels=1) / 255).astype(np.float32)])
def test_normalised_training_images_have_mean_0_and_spread_1(images, monkeypatch):
    monkeypatch.setattr(augmentation, "_BLOCK", 5)
    pixels = images / 255.0 if images.dtype == np.uint8 else images.astype(float)
    mean, spread = channel_statistics(images)
    np.testing.assert_allclose(mean, pixels.mean((0, 2, 3)), rtol=1e-13)
    np.testing.assert_allclose(spread, pixels.std((0, 2, 3)), rtol=1e-13)
    found = normalised(images, mean, spread)
    assert found.dtype == np.float32
    expected = (pixels - pixels.mean((0, 2, 3), keepdims=True)) / pixels.std((0, 2, 3), keepdims=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_cannot_be_is_refused_by_name():
    images = batch()
    images[:, 1] = 77
    with pytest.raises(UserError, match=r"^channel 1 is the same in all training images, so that it cannot"):
        channel_statistics(images)
    with pytest.raises(ValueError, match=r"^padding must be at least 0, got -1$"):
        random_crop(images, np.random.default_rng(0), -1)
