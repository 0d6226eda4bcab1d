"""Sparse teachers overlap as asked and are nested in each other; inputs are uniform on the sphere."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from carryover.tasks import sparse
from toy.refusal import refused


@st.composite
def tasks(draw):
    """(dimension, auxiliary features, shared features, new features) for which there is room."""
    dimension = draw(st.integers(2, 30))
    auxiliary = draw(st.integers(1, dimension))
    shared, new = draw(st.integers(0, auxiliary)), draw(st.integers(0, dimension - auxiliary))
    assume(shared + new)
    return dimension, auxiliary, shared, new


def teachers(seed, features, overlap, auxiliary, dimension, norm="l2"):
    """Coefficients of the auxiliary and the main task, and the signs of all dimensions."""
    order, signs, beta = sparse.auxiliary_teacher(np.random.default_rng(seed), dimension, auxiliary, norm)
    return beta, sparse.main_teacher(order, signs, auxiliary, features, overlap, norm), signs


@given(tasks(), st.sampled_from(["l1", "l2"]), st.integers(0, 10**6))
def test_counts_norms_and_signs_are_those_asked_for(task, norm, seed):
    dimension, auxiliary, shared, new = task
    beta, main, signs = teachers(seed, shared + new, shared / (shared + new), auxiliary, dimension, norm)
    assert beta.shape == main.shape == (dimension,)
    assert np.count_nonzero(beta) == auxiliary
    assert np.count_nonzero(main) == shared + new
    assert np.count_nonzero((main != 0) & (beta != 0)) == shared
    for teacher in (beta, main):
        assert np.linalg.norm(teacher, {"l1": 1, "l2": 2}[norm]) == pytest.approx(1, rel=1e-12)
        assert len(np.unique(np.abs(teacher[teacher != 0]))) == 1
        np.testing.assert_array_equal(np.sign(teacher)[teacher != 0], signs[teacher != 0])


@given(tasks(), st.integers(0, 10**6), st.data())
def test_a_task_with_fewer_features_of_either_kind_is_nested_in_one_with_more(task, seed, data):
    dimension, auxiliary, shared, new = task
    fewer = data.draw(st.integers(0, shared)), data.draw(st.integers(0, new))
    assume(sum(fewer))
    large, small = (
        teachers(seed, sum(counts), counts[0] / sum(counts), auxiliary, dimension)[1]
        for counts in ((shared, new), fewer)
    )
    assert set(np.flatnonzero(small)) <= set(np.flatnonzero(large))
    np.testing.assert_array_equal(np.sign(small)[small != 0], np.sign(large)[small != 0])


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ((3, 0.5, 4, 10), "overlap 0.5 of 3 main features is 1.5, no whole number."),
        ((2, 1.0, 11, 10), "11 auxiliary features do not fit into 10 input dimensions."),
        ((4, 1.0, 3, 10), "overlap 1.0 of 4 main features asks for 4 shared ones, but the auxiliary task has only 3."),
        ((8, 0.0, 4, 10), "8 new features do not fit into the 6 dimensions that the auxiliary task leaves of 10."),
    ],
)
def test_a_task_without_room_is_refused(asked, sentence):
    assert refused(teachers, 0, *asked) == sentence


@pytest.mark.parametrize(("overlap", "features"), [(0.1, 30), (0.7, 10), (1 / 3, 3), (0.29, 100)])
def test_fractions_that_binary_numbers_only_approach_are_whole(overlap, features):
    assert sparse.whole_share(overlap, features) == round(overlap * features)


def test_inputs_have_the_moments_of_the_uniform_law():
    """Mean 0, covariance I, E x⁴ = 3D/(D + 2), E x²x'² = D/(D + 2), each within 5 standard errors of its estimate."""
    samples, D = 40_000, 5
    x = sparse.sphere(np.random.default_rng(1), samples, D)
    products = [x, x**3, x[:, :, None] * x[:, None, :], x[:, :, None] ** 2 * x[:, None, :] ** 2]
    fourth = np.where(np.eye(D, dtype=bool), 3 * D / (D + 2), D / (D + 2))
    for values, expected in zip(products, (0, 0, np.eye(D), fourth), strict=True):
        assert np.all(np.abs(values.mean(0) - expected) < 5 * values.std(0) / np.sqrt(samples))
