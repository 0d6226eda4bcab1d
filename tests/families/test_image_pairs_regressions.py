"""Regressions on two classes are those of a pseudoinverse of their images, and each class is decomposed once."""

import numpy as np
import pytest
from scipy.linalg import lstsq

from carryover.families.image_pairs import regressions, task

CUTOFFS = np.array([0.0, 0.01, 0.3])


def split(counts, dimension=9, blank=2):
    """Classes 0, 1, … of so many training images each, and as many test images, with pixels that are always 0 or nearly
    always."""
    rng = np.random.default_rng(3)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), 2 * np.array(counts)))
    pixels = rng.random((len(labels), dimension)) ** 4
    pixels[:, :blank] = 0
    pixels[:, blank] = 0
    train = np.zeros(len(labels), dtype=bool)
    for label, count in enumerate(counts):
        train[rng.permutation(np.flatnonzero(labels == label))[:count]] = True
    pixels[np.flatnonzero((labels == 1) & train)[0], blank] = 1 / 255  # one image alone has it
    return task.Split(pixels, labels, train, ~train)


@pytest.mark.parametrize("counts", [(40, 30, 50), (20, 3, 2), (2, 3, 1)], ids=["many", "some", "few"])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (2, 1)])
def test_it_is_the_regression_on_the_images(counts, pair):
    known = split(counts)
    pixels, labels = known.task(*pair)
    found = regressions.Regressions(known).of(*pair)
    coefficients = found.coefficients(CUTOFFS)
    for cutoff, mine in zip(CUTOFFS, coefficients, strict=True):
        rounding = max(pixels.shape) * np.finfo(float).eps
        expected = np.linalg.pinv(pixels, rtol=max(cutoff, rounding)) @ labels
        np.testing.assert_allclose(mine, expected, atol=1e-11 * (1 + abs(expected).max()))
        np.testing.assert_allclose(mine, lstsq(pixels, labels, cond=max(cutoff, rounding))[0], rtol=1e-8, atol=1e-9)
    losses = [((pixels @ mine - labels) ** 2).mean() / 2 for mine in coefficients]
    np.testing.assert_allclose(found.loss(coefficients), losses, atol=1e-12)
    for mine, share in zip(coefficients, found.explained(coefficients), strict=True):  # by a fit of one number
        left = lstsq((pixels @ mine)[:, None], labels)[0][0] * pixels @ mine - labels
        assert share == pytest.approx(1 - (left**2).mean() / (labels**2).mean(), abs=1e-9)
    assert np.isnan(found.explained(np.zeros((1, 9)))).all()
    moments = found.directions.T @ (found.spectrum[:, None] * found.directions)
    np.testing.assert_allclose(moments, pixels.T @ pixels / len(pixels), atol=1e-14)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(9), atol=1e-13)
    if found.count > 40:  # the pixel of one image is learned by least squares, and left out with the smallest cutoff
        assert abs(coefficients[0, 2]) > 1
        assert abs(coefficients[1, 2]) < 1e-3


def test_pixels_that_are_nearly_always_blank_are_as_accurate_as_in_the_images():
    """The one image's pixel has a singular value of 1e-5 of the largest: squares would leave half of its digits."""
    known = split((3000, 3000))
    known.pixels[:, 3:] *= 10
    pixels, labels = known.task(0, 1)
    found = regressions.Regressions(known).of(0, 1).coefficients(np.zeros(1))[0]
    expected = lstsq(pixels, labels)[0]
    assert abs(expected[2]) > 10
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-8)
