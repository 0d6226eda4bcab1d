"""Tasks of mean-field networks: equations 16 and 17, what is drawn from what, and what is refused."""

import numpy as np
import pytest

from carryover.errors import UserError
from carryover.families.mean_field import pretrain, task
from carryover.networks.relu import Weights
from toy.mean_field_toys import TASK

P = pretrain.Parameters(**TASK)
LARGE = pretrain.Parameters(**{**TASK, "teacher_units": 2000, "width": 3000, "dimension": 5})


def mean_output(directions, readout, X):
    """Equation 17, unit by unit."""
    return sum(c * np.maximum(X @ w, 0) for w, c in zip(directions, readout, strict=True)) / len(readout)


def test_the_target_is_a_mean_over_units_on_the_sphere_of_random_sign():
    teacher = task.target(LARGE, "toy", 0, 3.0)
    np.testing.assert_allclose(np.linalg.norm(teacher.first, axis=1), 1)
    assert np.abs(teacher.first.mean(0)).max() < 5 / np.sqrt(2000 * 5)
    assert abs(teacher.second.mean()) < 5 * 3 / np.sqrt(2000)
    assert abs(teacher.second.std() / 3 - 1) < 5 / np.sqrt(2 * 2000)
    X = np.random.default_rng(0).standard_normal((7, 5))
    np.testing.assert_allclose(task.outputs(teacher, X), mean_output(teacher.first, teacher.second[0], X))


@pytest.mark.parametrize("ablated", [0.0, 0.25, 0.75])
def test_the_source_is_a_mean_over_the_units_that_are_kept(ablated):
    X = np.random.default_rng(0).standard_normal((7, 4))
    target, source = task.target(P, "toy", 1, 2.0), task.source(P, "toy", 1, 2.0, ablated)
    kept = source.second[0] != 0
    assert kept.sum() == 4 * (1 - ablated)
    expected = mean_output(target.first[kept], target.second[0, kept], X)  # divided by the kept ones, (1 − μ) m*
    np.testing.assert_allclose(task.outputs(source, X), expected)


def test_a_larger_fraction_ablates_the_same_units_and_more():
    kept = [task.source(LARGE, "toy", 2, 1.0, ablated).second[0] != 0 for ablated in (0.1, 0.5, 0.9)]
    assert (kept[0] >= kept[1]).all()
    assert (kept[1] >= kept[2]).all()
    other = task.source(LARGE, "toy", 3, 1.0, 0.5).second[0] != 0
    assert 0.4 < (kept[1] == other).mean() < 0.6


@pytest.mark.parametrize(("ablated", "left"), [(0.9, "0.4"), (1.0, "0"), (0.3, "2.8")])
def test_a_source_without_a_whole_number_of_units_is_refused(ablated, left):
    with pytest.raises(UserError) as caught:
        task.source(P, "toy", 0, 1.0, ablated)
    assert str(caught.value) == (
        f"ablated {ablated:g} of 4 teacher_units leaves {left}: it must be a whole number, 1 at least."
    )


def test_fractions_that_rounding_spoils_are_whole():
    p = pretrain.Parameters(**{**TASK, "teacher_units": 10})
    for ablated in np.arange(10) / 10:
        assert (task.source(p, "toy", 0, 1.0, ablated).second != 0).sum() == round(10 * (1 - ablated))


def test_networks_start_on_the_sphere_with_a_small_readout():
    network = task.initial(LARGE, "toy", 0)
    np.testing.assert_allclose(np.linalg.norm(network.first, axis=1), 1)
    assert abs(network.second.std() / 1e-7 - 1) < 5 / np.sqrt(2 * 3000)
    assert abs(np.corrcoef(network.first[:2000, 0], task.target(LARGE, "toy", 0, 1.0).first[:, 0])[0, 1]) < 0.12


def test_the_sum_is_the_mean_and_back():
    rng = np.random.default_rng(0)
    network = Weights(rng.standard_normal((3, 6, 4)), rng.standard_normal((3, 1, 6)))
    X = rng.standard_normal((5, 4))
    summed = task.summed(network)
    np.testing.assert_allclose(summed.outputs(X)[..., 0], task.outputs(network, X))
    np.testing.assert_allclose(task.averaged(summed).first, network.first)
    np.testing.assert_allclose(task.averaged(summed).second, network.second)


def test_what_is_drawn_depends_on_seed_and_experiment_alone():
    draws = [lambda e, s: task.target(P, e, s, 1.0), lambda e, s: task.initial(P, e, s)]
    for draw in draws:
        np.testing.assert_array_equal(draw("toy", 0).first, draw("toy", 0).first)
        assert not np.isclose(draw("toy", 0).first, draw("toy", 1).first).any()
        assert not np.isclose(draw("toy", 0).first, draw("other", 0).first).any()
    one, other = (task.target(P, "toy", 0, scale) for scale in (1.0, 3.0))
    np.testing.assert_array_equal(one.first, other.first)
    np.testing.assert_allclose(3 * one.second, other.second)
