"""All faces of the cones of samples, against Schläfli's count and random points."""

from math import comb

import numpy as np
import pytest

from carryover.theory.activation_faces import Faces


def samples(n, dimension, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dimension))


def cones(n, dimension):
    """How many n hyperplanes through the origin make, any `dimension` of them independent."""
    return 2 * sum(comb(n - 1, j) for j in range(dimension))


@pytest.mark.parametrize(("n", "dimension"), [(1, 1), (5, 1), (2, 2), (7, 2), (3, 3), (8, 3), (7, 4), (6, 5)])
def test_there_are_as_many_faces_of_each_dimension_as_hyperplanes_make(n, dimension):
    vanishing = (Faces(samples(n, dimension)).signs == 0).sum(1)
    # A face on which j samples vanish is a cone of the others in the D − j dimensions that are left.
    expected = [comb(n, j) * cones(n - j, dimension - j) for j in range(dimension)]
    expected += [0] * (n - dimension) + [1]  # and on the origin all
    np.testing.assert_array_equal(np.bincount(vanishing), expected)


def test_every_point_is_inside_of_one_face_where_its_function_is_linear():
    rng, faces = np.random.default_rng(1), Faces(samples(6, 3))
    multipliers = rng.standard_normal(6)
    slopes = faces.slopes(multipliers)
    points = [*rng.standard_normal((50, 3)), np.zeros(3), *faces.rays]
    points += list(np.cross(faces.X[0], rng.standard_normal((5, 3))))
    for point in points:
        spanned = faces.projections @ point
        products = faces.X @ point
        signs = np.where(abs(products) < 1e-12, 0, np.sign(products))
        (own,) = np.flatnonzero((faces.signs == signs).all(1))
        np.testing.assert_allclose(spanned[own], point, atol=1e-12)
        assert faces.inside(np.broadcast_to(point, slopes.shape))[own] or (signs == 0).any()
        assert slopes[own] @ point == pytest.approx(multipliers @ np.maximum(products, 0))
    cones_inside = faces.inside(np.broadcast_to(points[0], slopes.shape)) & (faces.signs != 0).all(1)
    assert cones_inside.sum() == 1


def test_dependent_and_too_many_samples_are_refused():
    X = samples(5, 3)
    X[3] = X[0] + X[1]
    with pytest.raises(ValueError, match="any 3 samples must be linearly independent"):
        Faces(X)
    with pytest.raises(ValueError, match="100 samples in 5 dimensions have too many"):
        Faces(samples(100, 5))
