"""Tasks on subsets of classes: what they hold, what is drawn, and what is refused."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.streams import generator
from carryover.tasks.class_subsets import class_sets, class_task, left_out, sampled
from carryover.tasks.images import ImageSet
from toy.refusal import refused

invariant = settings(derandomize=True, deadline=None, max_examples=50)


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


@invariant
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


@invariant
@given(tasks(), st.integers(0, 99), st.data())
def test_samples_are_different_balanced_and_part_of_more(drawn, seed, data):
    task = class_task(*drawn)
    counts = np.bincount(task.train_labels)
    most = len(counts) * int(counts.min())
    samples = data.draw(st.integers(1, most))
    found, more = (sampled(task, n, generator("toy", "", seed, "samples")) for n in (samples, most))
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
    assert refused(sampled, class_task(found, (0, 1)), 3, rng) == (
        "samples is 3, 2 of each of 2 classes, but class 0 has 1 training images: lower samples."
    )
    assert refused(class_sets, range(3), 2, 4, "toy", 0) == "tasks is 4, but 3 classes give 3 sets of 2."
    assert refused(left_out, 10, 9, "toy", 0) == (
        "left_out is 9, but of 10 classes two must be left for pretraining: lower it."
    )
