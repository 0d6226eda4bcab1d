"""A card computes what the CPU computes, up to rounding.

A number may differ by the stated share of the largest one of its variable. Sums in another order make shares of 1e-12
in float64 and 1e-6 in float32 of these shards, of convolutional networks 4e-7.
"""

import numpy as np
import pytest
from trainer_shards import TRAINERS, convnets

from carryover.training.device import torch_device

pytestmark = pytest.mark.gpu
SHARES = {"float64": 1e-9, "float32": 1e-4}
CONVNETS = {"width": 8, "tasks": 1, "samples": (32,), "batch_size": 0, "learning_rate": 1e-3, "keep_weights": True}
SINGLE = [name for name in TRAINERS if not name.startswith(("diagonal", "convnets"))]
CASES = [(name, {"precision": precision}) for name in SINGLE for precision in SHARES]
CASES += [(name, {}) for name in ("diagonal_descent", "diagonal_flow")]  # always in float64


def agree(one, other, share):
    """Two shards have the same runs, which took the same steps, and the same numbers up to rounding."""
    assert set(one.variables) == set(other.variables)
    for name, expected in one.variables.items():
        found = other[name].values
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(found, expected.values, err_msg=name)
            continue
        stored = max(share, np.finfo(expected.dtype).eps)  # float64 may be kept as float32
        largest = np.nanmax(np.abs(expected.values), initial=0)
        np.testing.assert_allclose(found, expected.values, rtol=0, atol=stored * largest, err_msg=name)


@pytest.mark.parametrize(("name", "told"), CASES)
def test_a_trainer_gives_what_it_gives_on_the_cpu(name, told, card):
    shard = TRAINERS[name][0]
    agree(shard(device="cpu", **told), shard(device=card, **told), SHARES[told.get("precision", "float64")])


@pytest.mark.parametrize("together", [1, 2])
def test_convolutional_networks_are_those_of_the_cpu(together, card):
    told = {**CONVNETS, "together": together}
    expected = convnets(device="cpu", **told)
    found = convnets(device=card, **told)
    risks = [name for name in expected.data_vars if name.startswith("risk")]  # shares of images, which jump
    agree(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
    for name in risks:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=0.05)


def test_auto_is_the_card(card):
    assert torch_device("auto").type == card
