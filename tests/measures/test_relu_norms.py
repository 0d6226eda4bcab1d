"""Norms of hand-made ReLU networks, against searches over networks that compute the same function."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from carryover.measures.relu_solutions import relu_norms
from toy import made_up_networks

RNG = np.random.default_rng(0)
MAIN, AUXILIARY = np.eye(4)[:3], np.eye(4)[[0, 3]]  # one unit shared


def measured(first, second):
    """One run; the third unit of its teacher only fills up the array."""
    variables = {
        "first": first[None].astype(np.float32), "second": second[None].astype(np.float32),
        "teacher_directions": [MAIN], "teacher_readout": [[0.5, -2.0, 0.0]],
        "auxiliary_directions": [AUXILIARY], "auxiliary_readout": [[1.2, -3.0]],
    }  # fmt: skip
    return relu_norms(made_up_networks.networks(variables)).isel(run=0)


@pytest.mark.parametrize("outputs", [1, 2])
def test_half_the_smallest_squared_norm_of_equal_networks(outputs):
    """Equations 33-35: over factors z between a unit's input weights and its readouts, by descent."""
    first, second = RNG.standard_normal((5, 4)), RNG.standard_normal((outputs, 5))

    def squared(log_z):
        z = np.exp(log_z)
        return ((first * z[:, None]) ** 2).sum() + ((second / z) ** 2).sum()

    found = measured(first, second)
    least = minimize(squared, np.zeros(5), tol=1e-12).fun
    assert float(found["f12_norm"]) == pytest.approx(least / 2, rel=1e-5)
    assert float(found["balance"]) == pytest.approx(squared(np.zeros(5)) / least, rel=1e-5)
    assert float(found["f1_norm"]) == pytest.approx(float(measured(first, second[:1])["f12_norm"]), rel=1e-6)


def test_no_other_units_compute_the_function_with_less():
    """In two dimensions: the least Σ |m| over units in all directions, their own and opposite ones among them."""
    angles = np.arange(0, 2 * np.pi, 2 * np.pi / 72)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    own, m = [3, 20, 50, 65], np.array([1.0, -0.7, 0.4, 2.0])
    inputs = RNG.standard_normal((400, 2))
    responses = np.maximum(inputs @ directions.T, 0)
    target = responses[:, own] @ m
    found = linprog(np.ones(144), A_eq=np.hstack([responses, -responses]), b_eq=target, bounds=(0, None))
    assert found.fun == pytest.approx(np.abs(m).sum(), rel=1e-6)
    first = np.hstack([directions[own] * [[2.0], [0.1], [1.0], [3.0]], np.zeros((4, 2))])
    second = (m / [2.0, 0.1, 1.0, 3.0])[None]
    assert float(measured(first, second)["f1_norm"]) == pytest.approx(found.fun, rel=1e-6)


def test_of_the_teacher_and_of_both_with_shared_units_once():
    first = RNG.standard_normal((5, 4))
    one, both = (measured(first, RNG.standard_normal((outputs, 5))) for outputs in (1, 2))
    for found in (one, both):
        assert float(found["f1_norm_teacher"]) == 2.5
    assert float(one["f12_norm_teacher"]) == 2.5
    assert float(both["f12_norm_teacher"]) == pytest.approx(np.hypot(0.5, 1.2) + 2 + 3)
