"""Tasks on classes of images: what they hold, what is drawn, what is refused; batches against loops and NumPy."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carryover.streams import generator
from carryover.tasks import image_tasks
from carryover.tasks.image_tasks import PreparedImages, class_task, random_crop, random_flip, sample_task
from carryover.tasks.images import ImageSet
from toy.refusal import refused


def marked(train_labels, test_labels, classes=None):
    """A set whose every image is one pixel, its class."""
    parts = []
    for labels in (np.array(train_labels), np.array(test_labels)):
        parts += [labels[:, None, None, None].astype(np.uint8), labels]
    return ImageSet(*parts, classes or 1 + max([*train_labels, *test_labels]))


@st.composite
def tasks(draw):
    count = draw(st.integers(2, 6))
    sizes = draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    train = draw(st.permutations([label for label, size in enumerate(sizes) for _ in range(size)]))
    test = draw(st.permutations(list(range(count)) * 2))
    classes = draw(st.permutations(range(count)))[: draw(st.integers(2, count))]
    return marked(train, test), classes


@given(tasks())
def test_a_task_has_all_images_of_its_classes_numbered_in_their_order(drawn):
    found, classes = drawn
    task = class_task(found, classes)
    for indices, labels, all_images, all_labels in (
        (task.train, task.train_labels, found.train, found.train_labels),
        (task.test, task.test_labels, found.test, found.test_labels),
    ):
        assert indices.tolist() == [i for i, label in enumerate(all_labels) if label in classes]
        assert [classes[label] for label in labels] == all_images[indices].ravel().tolist()


@given(tasks(), st.integers(0, 99), st.data())
def test_samples_are_different_balanced_and_part_of_more(drawn, seed, data):
    task = class_task(*drawn)
    counts = np.bincount(task.train_labels)
    most = len(counts) * int(counts.min())
    samples = data.draw(st.integers(1, most))
    found, more = (sample_task(task, n, generator("toy", "", seed, "samples")) for n in (samples, most))
    assert len(set(found.train)) == len(found.train) == samples
    shares = np.bincount(found.train_labels, minlength=len(counts))
    assert shares.max() - shares.min() <= 1
    numbers = dict(zip(task.train, task.train_labels, strict=True))
    assert [numbers[index] for index in found.train] == found.train_labels.tolist()
    np.testing.assert_array_equal(found.train, more.train[:samples])
    np.testing.assert_array_equal(found.test, task.test)


def test_what_cannot_be_is_refused():
    found, rng = marked([0, 1, 1, 3], [0, 1, 2]), np.random.default_rng(0)
    assert refused(class_task, found, (1, 2)) == (
        "classes names [2], of which there are no training images: leave these out."
    )
    assert refused(sample_task, class_task(found, (0, 1)), 3, rng) == (
        "samples is 3, 2 of each of 2 classes, but class 0 has 1 training images: lower samples."
    )


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
    monkeypatch.setattr(image_tasks, "_BLOCK", 5)
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
    flat = PreparedImages(image_set(np.full((4, 1, 6, 6), 7, dtype=np.uint8)))
    said = "channel 0 is the same in all training images, so that it cannot be normalised."
    assert refused(flat.batch, "train", np.arange(2)) == said
