"""Tasks of mean-field networks: equations 16 and 17, what is drawn from what, and what is refused."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.errors import UserError
from carryover.families.mean_field import task
from toy.mean_field_toys import TASK

P = model_of("families.mean_field", "pretrain")(**TASK)
LARGE = model_of("families.mean_field", "pretrain")(**{**TASK, "teacher_units": 2000, "width": 3000, "dimension": 5})


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


@pytest.mark.parametrize(("ablated", "left"), [(0.9, "0.4"), (1.0, "0"), (0.3, "2.8")])
def test_a_source_without_a_whole_number_of_units_is_refused(ablated, left):
    with pytest.raises(UserError) as caught:
        task.source(P, "toy", 0, 1.0, ablated)
    assert str(caught.value) == (
        f"ablated {ablated:g} of 4 teacher_units leaves {left}: it must be a whole number, 1 at least."
    )


def test_networks_start_on_the_sphere_with_a_small_readout():
    network = task.initial(LARGE, "toy", 0)
    np.testing.assert_allclose(np.linalg.norm(network.first, axis=1), 1)
    assert abs(network.second.std() / 1e-7 - 1) < 5 / np.sqrt(2 * 3000)
    assert abs(np.corrcoef(network.first[:2000, 0], task.target(LARGE, "toy", 0, 1.0).first[:, 0])[0, 1]) < 0.12
