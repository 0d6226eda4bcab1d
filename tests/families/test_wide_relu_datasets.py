"""Datasets of wide ReLU networks: what they hold, that a run depends on nothing but itself, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carryover.config.parameters import model_of
from carryover.families.wide_relu import pretrain
from carryover.families.wide_relu.finetune import BOUNDS
from toy.wide_relu_toys import finetuned, pretrained


@pytest.fixture(scope="module")
def start():
    return pretrained()


def of(start, protocol, **told):
    return finetuned(start if protocol == "finetuning" else None, **told)


@pytest.mark.portable
@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
@pytest.mark.parametrize("name", ["flow", "exact"])
def test_a_run_is_the_same_alone(start, protocol, name):
    together = of(start, protocol, solver=name, samples=(3, 6), distance=(0.5, 1.0))
    backwards = start.isel(run=[2, 1, 0])
    alone = of(backwards, protocol, solver=name, samples=(6,), distance=(1.0,), seeds=(1,))
    keep = (together["seed"] == 1) & (together["samples"] == 6) & (together["distance"] == 1.0)
    for quantity in (*BOUNDS, "risk_final", "loss"):
        expected = together[quantity][keep.values]
        np.testing.assert_allclose(alone[quantity], expected, rtol=1e-6, atol=1e-12, err_msg=quantity)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(st.floats(0, 2), st.integers(0, 100), st.integers(2, 20))
def test_targets_are_unit_vectors_at_their_distance(distance, seed, dimension):
    p = model_of("families.wide_relu", "task")(dimension=dimension)
    source, target = pretrain.teacher(p, "toy", seed), pretrain.teacher(p, "toy", seed, distance)
    assert np.linalg.norm(target) == pytest.approx(1)
    assert np.linalg.norm(target - source) == pytest.approx(distance, abs=1e-12)
