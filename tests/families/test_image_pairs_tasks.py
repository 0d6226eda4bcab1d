"""Pairs of tasks on images, what is held out, and the limit of gradient descent on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.families.image_pairs import exact, task
from toy.image_pair_toys import finetuned, pretrained


def parameters(**told):
    return model_of("families.image_pairs", "task")(**told)


@settings(derandomize=True, deadline=None)
@given(samples=st.integers(1, 7), dimension=st.integers(1, 5), seed=st.integers(0, 99))
def test_gradient_descent_ends_at_the_limit(samples, dimension, seed):
    rng = np.random.default_rng(seed)
    left, _, right = np.linalg.svd(rng.standard_normal((samples, dimension)), full_matrices=False)
    X = left * rng.uniform(0.5, 1.0, len(right)) @ right
    y, start = rng.choice([-1.0, 1.0], samples), rng.standard_normal(dimension)
    beta = start
    for _ in range(150):  # what is missing falls by 1 − 0.5² a step or faster
        beta = beta - X.T @ (X @ beta - y)
    np.testing.assert_allclose(exact.limit(X, y, start), beta, atol=1e-11)


def test_pairs_are_of_four_different_classes_and_differ():
    classes = (7, 2, 5, 0, 9)
    found = task.pairs(parameters(classes=classes, pairs=60), "toy")
    assert len(set(found)) == 60  # 5!/1!, halved for the order within the source task
    assert all(len(set(four)) == 4 and set(four) <= set(classes) for four in found)
    swapped = {(b, a, d, c) for a, b, c, d in found}
    assert not swapped & set(found)
    assert found[:3] != task.pairs(parameters(classes=classes, pairs=60), "other")[:3]


def test_each_class_holds_out_its_share():
    images = task.Images(parameters(held_out=0.3, classes=(1, 4, 6, 8)), "toy")
    split, other = images.split(0), images.split(1)
    assert not (split.train & split.test).any()
    for label in range(10):
        members = images.labels == label
        assert split.test[members].sum() == (int(0.3 * members.sum()) if label in (1, 4, 6, 8) else 0)
        assert split.train[members].sum() + split.test[members].sum() == (members.sum() if label in (1, 4, 6, 8) else 0)
    assert (split.test != other.test).any()
    np.testing.assert_array_equal(images.split(0).test, split.test)


def test_what_the_images_cannot_give_is_refused():
    start = pretrained()
    cases = [
        ({"classes": (0, 3, 11, 5)}, r"classes names \[11\], but the classes with two images or more are \[0, 1, .*"),
        ({"classes": (0, 1, 2)}, "pairs is 3, but 3 classes give 0 pairs of tasks: lower pairs or add classes."),
        ({"classes": (0, 1, 2, 3), "pairs": 13}, "pairs is 13, but 4 classes give 12 pairs of tasks: .*"),
    ]
    for told, said in cases:
        for stage in (pretrained, finetuned):
            with pytest.raises(UserError, match=said):
                stage(**told)
    with pytest.raises(UserError, match=r"samples has 400, but the classes \d and \d have 2\d\d training images: "):
        finetuned(samples=(5, 400))
    with pytest.raises(UserError, match=r"lacks seed 0, pair 0, .* cutoff 0.5: pretrain with the same classes, pairs"):
        finetuned(start, cutoff=(0.5,))
    with pytest.raises(UserError, match=r"lacks seed 0, pair \d, source_classes . ., .*: pretrain with the same"):
        finetuned(start, experiment="other")
