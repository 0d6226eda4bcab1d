"""A card computes what the CPU computes, up to rounding."""

import numpy as np
import pytest
from comparison import CONVNETS, SHARES

from carryover.training.devices import torch_device
from rounding import differing
from toy.trainer_shards import TRAINERS, convnets

pytestmark = pytest.mark.extended

SINGLE = [name for name in TRAINERS if not name.startswith(("diagonal", "convnets", "wide_relu"))]
CASES = [(name, {"precision": precision}) for name in SINGLE for precision in SHARES]
CASES += [(name, {}) for name in ("diagonal_descent", "diagonal_flow", "wide_relu")]  # always in float64


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_trainer_gives_what_it_gives_on_the_cpu(name, options, card):
    shard = TRAINERS[name][0]
    share = SHARES[options.get("precision", "float64")]
    assert not differing(shard(device="cpu", **options), shard(device=card, **options), share)


@pytest.mark.parametrize("together", [1, 2])
def test_convolutional_networks_are_those_of_the_cpu(together, card):
    options = {**CONVNETS, "together": together}
    expected = convnets(device="cpu", **options)
    found = convnets(device=card, **options)
    risks = [name for name in expected.data_vars if name.startswith("risk")]  # shares of images, which jump
    assert not differing(expected.drop_vars(risks), found.drop_vars(risks), SHARES["float32"])
    for name in risks:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=0.05)


def test_auto_is_the_card(card):
    assert torch_device("auto").type == card
