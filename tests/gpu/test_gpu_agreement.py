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


def differing(one, other, share):
    """Names of variables that two shards do not have alike: floating-point numbers up to `share` of the largest."""
    names = set(one.variables) ^ set(other.variables)
    for name in set(one.variables) & set(other.variables):
        expected, found = one[name].values, other[name].values
        if expected.dtype.kind != "f":
            alike = np.array_equal(found, expected)
        else:
            stored = max(share, np.finfo(expected.dtype).eps)  # float64 may be kept as float32
            largest = np.nanmax(np.abs(expected), initial=0)
            alike = found.shape == expected.shape and np.allclose(
                found, expected, rtol=0, atol=stored * largest, equal_nan=True
            )
        names |= set() if alike else {name}
    return names


@pytest.mark.parametrize(("name", "told"), CASES)
def test_a_trainer_gives_what_it_gives_on_the_cpu(name, told, card):
    shard = TRAINERS[name][0]
    share = SHARES[told.get("precision", "float64")]
    assert not differing(shard(device="cpu", **told), shard(device=card, **told), share)


@pytest.mark.parametrize("together", [1, 2])
def test_convolutional_networks_are_those_of_the_cpu(together, card):
    told = {**CONVNETS, "together": together}
    expected = convnets(device="cpu", **told)
    found = convnets(device=card, **told)
    risks = [name for name in expected.data_vars if name.startswith("risk")]  # shares of images, which jump
    assert not differing(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
    for name in risks:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=0.05)


def test_auto_is_the_card(card):
    assert torch_device("auto").type == card
