"""What is said of made-up networks beside the function of least penalty, and of networks that were trained."""

import numpy as np
import pytest

from carryover.config.plugins import model_of
from carryover.measures.relu_solutions import least_penalty
from carryover.theory.penalty import relu_penalty
from toy import made_up_networks
from toy.relu_toys import finetuned, pretrained


def network(first, readout, samples=((1.0, 0.0),), targets=(2**0.5,)):
    """One run in the plane from a unit along the first axis, whose teacher is one of coefficient √2 in its direction;
    one sample more would have been kept."""
    X, y = np.array([*samples, [np.nan, np.nan]]), np.array([*targets, np.nan])
    return made_up_networks.networks(
        {
            "first": [[first]], "second": [[[readout]]], "start_first": [[[1.0, 0.0]]], "start_second": [[[0.0]]],
            "inputs": [X], "targets": [y],
            "teacher_directions": [[[1.0, 0.0], [np.nan, np.nan]]], "teacher_readout": [[2**0.5, 0.0]],
        }
    )  # fmt: skip


def measured(*told, **more):
    found = least_penalty(network(*told, **more), model_of("measures", "least_penalty")(gap=1e-8)).isel(run=0)
    assert all(variable.attrs["long_name"] for variable in found.values())
    return {name: float(value) for name, value in found.items()}


def test_one_unit_that_only_grows_is_the_function_of_least_penalty():
    found = measured([2**0.5, 0.0], 1.0)
    least = relu_penalty(2**0.5, 1.0, 1.0, 0.0)
    for name in ("penalty", "penalty_least", "penalty_bound"):
        assert found[name] == pytest.approx(least, rel=1e-5)
    for name in ("risk_found", "risk_predicted", "difference", "unfitted", "rotation", "rotation_predicted"):
        assert found[name] == pytest.approx(0, abs=1e-6)


def test_a_unit_that_has_turned_and_missed_is_told_by_how_much():
    """At 60° to its start and with half of the magnitude the unit gives a quarter of the target."""
    found = measured([0.5, 3**0.5 / 2], 2**-0.5)
    assert found["rotation"] == pytest.approx(0.5)
    assert found["unfitted"] == pytest.approx(0.75**2)
    assert found["penalty"] == pytest.approx(relu_penalty(2**-0.5, 1.0, 0.5, 0.0))
    assert found["rotation_predicted"] == pytest.approx(0, abs=1e-6)
    # E relu(u·x) relu(v·x) = (sin θ + (π − θ) cos θ)/2π and E relu(u·x)² = 1/2, for magnitudes √½ and √2.
    cross = (np.sin(np.pi / 3) + np.pi / 3) / (2 * np.pi)
    risk = (0.25 - 2 * cross + 1) / 1
    assert found["risk_found"] == pytest.approx(risk, rel=1e-6)
    assert found["difference"] == pytest.approx(risk, rel=1e-3)


def test_samples_of_trained_networks_are_those_that_they_learned():
    start = pretrained(dimension=3)
    for protocol in ("finetuning", "single_task"):
        data = finetuned(start, protocol, dimension=3, samples=(3, 5), overlap=(1.0,), keep_samples=True, max_epochs=9)
        found = least_penalty(data, model_of("measures", "least_penalty")())
        assert np.isfinite(data["targets"]).sum("sample").values.tolist() == data["samples"].values.tolist()
        power = (data["targets"] ** 2).mean("sample")
        np.testing.assert_allclose(found["unfitted"] * power, data["loss"], rtol=1e-4)
        assert (found["penalty_bound"] <= found["penalty_least"]).all()
        assert (found["penalty_bound"] >= 0.99 * found["penalty_least"]).all()
