"""Batches of images as networks take them."""

import numpy as np
import pytest
import torch

from carryover.errors import UserError
from carryover.tasks.images import ImageSet
from carryover.tasks.prepared_images import PreparedImages

LABELS = np.zeros(40, dtype=np.int64)


def image_set(train):
    return ImageSet(train, LABELS[: len(train)], train[:5], LABELS[:5], 1)


@pytest.fixture
def images():
    return image_set(np.random.default_rng(0).integers(0, 256, (40, 3, 6, 5), dtype=np.uint8))


def test_training_images_have_mean_0_and_variance_1_in_every_channel(images):
    batch = PreparedImages(images).batch("train", np.arange(40))
    assert batch.dtype == torch.float32
    assert batch.shape == (40, 3, 6, 5)
    torch.testing.assert_close(batch.mean((0, 2, 3)), torch.zeros(3), atol=1e-5, rtol=0)
    torch.testing.assert_close(batch.var((0, 2, 3), correction=0), torch.ones(3))


def test_a_batch_is_the_images_asked_for_and_tests_are_normalised_alike(images):
    prepared = PreparedImages(images)
    assert torch.equal(prepared.batch("train", np.array([4, 1])), prepared.batch("test", np.array([4, 1])))
    assert prepared.channels == 3


def test_only_batches_with_a_generator_are_augmented(images):
    prepared = PreparedImages(images, crop=2, flip=True)
    plain = prepared.batch("train", np.arange(20))
    assert torch.equal(plain, PreparedImages(images).batch("train", np.arange(20)))
    augmented = prepared.batch("train", np.arange(20), np.random.default_rng(1))
    assert augmented.shape == plain.shape
    assert not torch.equal(augmented, plain)
    assert torch.equal(augmented, prepared.batch("train", np.arange(20), np.random.default_rng(1)))


def test_a_channel_that_does_not_vary_is_refused():
    with pytest.raises(UserError, match="channel 0 is the same in all training images"):
        PreparedImages(image_set(np.full((4, 1, 6, 6), 7, dtype=np.uint8)))
