"""How far made-up networks are from their start, and the least that they had to be."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from carryover.measures.relu_solutions import displacement
from toy import made_up_networks

RNG = np.random.default_rng(0)


def network(first, second, start_first, start_second, main=(0.5, 0.0), cosine=0.6):
    """One run in three inputs: main units at a cosine to the first auxiliary one, the second main one filling up."""
    directions = [[cosine, np.sqrt(1 - cosine**2), 0.0], [np.nan] * 3]
    return made_up_networks.networks(
        {
            "first": [first], "second": [[second]], "start_first": [start_first], "start_second": [[start_second]],
            "teacher_directions": [directions], "teacher_readout": [main],
            "auxiliary_directions": [np.eye(3)[[0, 2]]], "auxiliary_readout": [[1.5, -1.0]],
        }
    )  # fmt: skip


def measured(*told, **more):
    found = displacement(network(*told, **more)).isel(run=0)
    assert all(variable.attrs["long_name"] for variable in found.values())
    return {name: float(value) for name, value in found.items()}


def test_the_penalty_is_the_least_distance_over_all_factors_between_the_layers():
    """Unit by unit by a search over u, the length of its input weights, with none of the closed form."""
    first, start_first = RNG.standard_normal((2, 6, 3))
    second, start_second = RNG.standard_normal((2, 6))
    least = 0.0
    for w, a, w0, a0 in zip(first, second, start_first, start_second, strict=True):
        length = np.linalg.norm(w)

        def squared(log_u, w=w / length, m=a * length, w0=w0, a0=a0):
            return ((np.exp(log_u) * w - w0) ** 2).sum() + (m / np.exp(log_u) - a0) ** 2

        grid = np.linspace(-6, 6, 600)
        best = grid[np.argmin([squared(log_u) for log_u in grid])]
        least += minimize_scalar(squared, bounds=(best - 0.05, best + 0.05), method="bounded").fun
    found = measured(first, second, start_first, start_second)
    assert found["penalty"] == pytest.approx(least, rel=1e-6)
    assert found["displacement"] == pytest.approx(
        ((first - start_first) ** 2).sum() + ((second - start_second) ** 2).sum()
    )
    assert found["displacement"] > found["penalty"]


def test_penalties_of_the_teacher_are_those_of_a_pretrained_unit_and_of_a_new_one():
    """Coefficient ½ at cosine .6 to the auxiliary unit of coefficient 3/2, whose weights have the norm √1.5."""
    pretrained = np.array([[np.sqrt(1.5), 0, 0]])
    found = measured(pretrained, [0.1], pretrained, [0.0])
    u = np.linspace(0.3, 2, 100_001)
    paired = (0.25 / u**2 + u**2 + 1.5 - 2 * u * np.sqrt(1.5) * 0.6).min()
    assert found["penalty_paired"] == pytest.approx(paired, rel=1e-8)
    assert found["penalty_teacher"] == pytest.approx(paired, rel=1e-8)
    assert found["penalty_new"] == 1.0
    both = np.concatenate([pretrained, 1e-6 * np.eye(3)])  # with units near 0, which are cheaper to turn
    assert measured(both, np.zeros(4), both, np.zeros(4))["penalty_teacher"] < min(paired, 1.001)
