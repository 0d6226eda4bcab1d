"""Batches of images as networks take them: crops and mirror images against loops, normalisation against NumPy."""

import numpy as np
import pytest
import torch

from carryover.errors import UserError
from carryover.tasks import prepared_images
from carryover.tasks.images import ImageSet
from carryover.tasks.prepared_images import PreparedImages, random_crop, random_flip

LABELS = np.zeros(40, dtype=np.int64)


def batch(count=40, channels=3, seed=0):
    return np.random.default_rng(seed).integers(1, 256, size=(count, channels, 6, 5), dtype=np.uint8)


def image_set(train):
    return ImageSet(train, LABELS[: len(train)], train[:5], LABELS[:5], 1)


def shifted(image, down, right):
    """The image (C, H, W) moved, zeros where nothing was."""
    found = np.zeros_like(image)
    _, height, width = image.shape
    for row in range(height):
        for column in range(width):
            if 0 <= row - down < height and 0 <= column - right < width:
                found[:, row, column] = image[:, row - down, column - right]
    return found


@pytest.mark.parametrize("padding", [0, 1, 3])
def test_a_crop_is_the_image_moved_by_at_most_the_padding(padding):
    images = batch(6)
    found = random_crop(images, np.random.default_rng(1), padding)
    steps = range(-padding, padding + 1)
    for image, crop in zip(images, found, strict=True):
        assert any((shifted(image, down, right) == crop).all() for down in steps for right in steps)
    np.testing.assert_array_equal(images, batch(6))


def test_half_of_the_images_are_mirrored():
    images = batch(2000)
    found = random_flip(images, np.random.default_rng(0))
    same = (found == images).all((1, 2, 3))
    mirrored = (found == images[..., ::-1]).all((1, 2, 3))
    assert (same | mirrored).all()
    assert abs(mirrored.mean() - 0.5) < 5 * 0.5 / np.sqrt(2000)


@pytest.mark.parametrize("train", [batch(17), (batch(17, channels=1) / 255).astype(np.float32)])
def test_training_images_have_mean_0_and_spread_1_in_every_channel(train, monkeypatch):
    monkeypatch.setattr(prepared_images, "_BLOCK", 5)
    prepared = PreparedImages(image_set(train))
    found = prepared.batch("train", np.array([4, 1]))
    pixels = train / 255.0 if train.dtype == np.uint8 else train.astype(float)
    expected = (pixels - pixels.mean((0, 2, 3), keepdims=True)) / pixels.std((0, 2, 3), keepdims=True)
    assert found.dtype == torch.float32
    np.testing.assert_allclose(found.numpy(), expected[[4, 1]], atol=1e-6)
    assert torch.equal(found, prepared.batch("test", np.array([4, 1])))


def test_only_batches_with_a_generator_are_augmented():
    prepared = PreparedImages(image_set(batch()), crop=2, flip=True)
    plain = prepared.batch("train", np.arange(20))
    assert torch.equal(plain, PreparedImages(image_set(batch())).batch("train", np.arange(20)))
    augmented = prepared.batch("train", np.arange(20), np.random.default_rng(1))
    assert augmented.shape == plain.shape
    assert not torch.equal(augmented, plain)
    assert torch.equal(augmented, prepared.batch("train", np.arange(20), np.random.default_rng(1)))


def test_a_channel_that_does_not_vary_is_refused():
    with pytest.raises(UserError, match=r"^channel 0 is the same in all training images, so that it cannot"):
        PreparedImages(image_set(np.full((4, 1, 6, 6), 7, dtype=np.uint8))).batch("train", np.arange(2))
