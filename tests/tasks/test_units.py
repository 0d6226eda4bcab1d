"""ReLU teachers: angles as asked, nested in each other, evenly drawn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from carryover.tasks import units
from toy.refusal import refused

SEEDS = st.integers(0, 10**6)
COSINES = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 0.9, 1.0]), st.floats(-1, 1))


@st.composite
def tasks(draw):
    """(dimension, auxiliary units, cosines of the main units) for which orthogonal units have room."""
    dimension = draw(st.integers(2, 16))
    auxiliary = draw(st.integers(1, dimension))
    cosines = np.array(draw(st.lists(COSINES, min_size=1, max_size=dimension)))
    paired, new = np.flatnonzero(cosines), np.flatnonzero(np.abs(cosines) < 1)
    assume(not len(paired) or paired[-1] < auxiliary)
    assume(auxiliary + (new[-1] + 1 if len(new) else 0) <= dimension)
    return dimension, auxiliary, cosines


def teachers(seed, dimension, auxiliary, cosines, kind="orthogonal"):
    return units.teachers(np.random.default_rng(seed), dimension, auxiliary, np.asarray(cosines, dtype=float), kind)


@given(tasks(), SEEDS)
def test_orthogonal_units_have_the_angles_asked_for(task, seed):
    dimension, auxiliary, cosines = task
    before, main = teachers(seed, dimension, auxiliary, cosines)
    assert before.shape == (auxiliary, dimension)
    assert main.shape == (len(cosines), dimension)
    np.testing.assert_allclose(before @ before.T, np.eye(auxiliary), atol=1e-13)
    np.testing.assert_allclose(main @ main.T, np.eye(len(cosines)), atol=1e-13)
    asked = np.zeros((auxiliary, len(cosines)))  # ρ_k between the two k-th units, 0 elsewhere
    np.fill_diagonal(asked, cosines[:auxiliary])
    np.testing.assert_allclose(before @ main.T, asked, atol=1e-13)


@given(st.integers(2, 6), st.integers(1, 15), st.lists(COSINES, max_size=15), SEEDS)
def test_more_units_than_dimensions_come_in_frames(dimension, auxiliary, cosines, seed):
    cosines = cosines[:auxiliary]
    before, main = teachers(seed, dimension, auxiliary, cosines, "frames")
    assert main.shape == (len(cosines), dimension)
    np.testing.assert_allclose(np.linalg.norm(main, axis=1), 1, rtol=1e-12)
    for start in range(0, auxiliary, dimension):
        frame = before[start : start + dimension]
        np.testing.assert_allclose(frame @ frame.T, np.eye(len(frame)), atol=1e-13)
    for k in np.flatnonzero(cosines):
        assert before[k] @ main[k] == pytest.approx(cosines[k], abs=1e-12)


@given(tasks(), SEEDS, st.data())
def test_a_unit_depends_on_its_own_cosine_alone(task, seed, data):
    dimension, auxiliary, cosines = task
    before, main = teachers(seed, dimension, auxiliary, cosines)
    fewer = data.draw(st.integers(0, len(cosines)))
    same, first = teachers(seed, dimension, auxiliary, cosines[:fewer])
    np.testing.assert_array_equal(same, before)
    np.testing.assert_array_equal(first, main[:fewer])
    changed = data.draw(st.integers(0, len(cosines) - 1))
    others = cosines.copy()
    others[changed] = 0.0
    assume(auxiliary + changed + 1 <= dimension)
    same, other = teachers(seed, dimension, auxiliary, others)
    np.testing.assert_array_equal(same, before)
    np.testing.assert_array_equal(np.delete(other, changed, axis=0), np.delete(main, changed, axis=0))


def test_directions_are_drawn_evenly():
    """Archimedes: each coordinate of a uniform direction in three dimensions is uniform, and so is that of a rotation.

    A QR factorisation without its signs made positive fails this.
    """
    drawn = np.array([teachers(seed, 3, 1, [0.0, 0.0])[0][0] for seed in range(1500)])
    turned = np.array([teachers(seed, 3, 1, [0.5])[1][0] for seed in range(1500)])
    last = np.array([teachers(seed, 3, 3, [])[0][2] for seed in range(1500)])
    for vectors in (drawn, turned, last):
        for coordinate in vectors.T:
            assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).pvalue > 0.001


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ((4, 0.5, 0.9), [0.9, 0.9, 0, 0]),
        ((3, 1.0, -1.0), [-1, -1, -1]),
        ((3, 0.0, 1.0), [0, 0, 0]),
        ((3, 1 / 3, 1.0), [1, 0, 0]),
        ((4, None, None, "1 1 0.9 0"), [1, 1, 0.9, 0]),
        ((2, None, None, " -.5   1e-3 "), [-0.5, 0.001]),
    ],
)
def test_cosines_are_those_asked_for(asked, expected):
    np.testing.assert_array_equal(units.cosines(*asked), expected)


@pytest.mark.parametrize("listed", ["1 0", "1 0 1.1", "1 0 nan", "1 0 x"])
def test_what_is_no_list_of_cosines_is_refused(listed):
    wanted = f"unit_correlations {listed!r} must be one number from -1 to 1 for each of 3 main units."
    assert refused(units.cosines, 3, None, None, listed) == wanted


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ((3, 2, [1.0, 0.0]), "4 orthogonal teacher units do not fit into 3 input dimensions: raise dimension, ask for "
                             "fewer units, or choose directions frames."),
        ((5, 2, [0.0, 0.0, 0.5]), "main unit 3 correlates with an auxiliary one, but there are only 2."),
    ],
)  # fmt: skip
def test_a_task_without_room_is_refused(asked, sentence):
    assert refused(teachers, 0, *asked) == sentence


def test_signs_are_opposite_in_pairs_which_are_independent():
    draws = np.array([units.signs(np.random.default_rng(s), 6) for s in range(2000)])
    assert (np.abs(draws.mean(0)) < 4 / np.sqrt(2000)).all()
    expected = np.kron(np.eye(3), [[1, -1], [-1, 1]])
    products = draws.T @ draws / 2000
    assert (np.abs(products - expected) <= np.where(expected == 0, 4 / np.sqrt(2000), 0)).all()
