"""Readouts trained alone: the closed form of their flow against gradient descent, and pretraining of them alone."""

import numpy as np
import pytest

from carryover.families.mean_field.solvers import quadratic
from carryover.networks.relu import Weights
from carryover.training.readout_flow import Modes
from toy.mean_field_toys import followed, outputs, pretrained

FLOWS = {"readout": ("zero", "pretrained"), "draws": 2, "noise": 0.2, "tolerance": 1e-30}


@pytest.fixture(scope="module")
def start():
    return pretrained(max_steps=300)


def cases(problem):
    """(run, network, teacher, features (n, m), y, readout at the start) of every run of a problem."""
    task = problem.task
    for run, (index, which) in enumerate(zip(problem.networks, task.sets, strict=True)):
        network, teacher = problem.start[index], problem.teacher[index]
        begin = network.second[0] if problem.readout[run] == "pretrained" else np.zeros(network.second.shape[-1])
        yield run, network, teacher, np.maximum(task.X[which] @ network.first.T, 0), task.y[run], begin


def descended(features, y, readout, rate, steps):
    """Gradient descent of a readout on half the mean squared error, at the paper's rate of `rate` · width."""
    n, m = features.shape
    for _ in range(steps):
        readout = readout - rate * m * features.T @ (features @ readout / m - y) / (n * m)
    return readout


def sampled_risk(network, readout, teacher):
    """(mean, standard error) of the squared error over many inputs."""
    X = np.random.default_rng(1).standard_normal((40_000, network.first.shape[-1]))
    errors = (np.maximum(X @ network.first.T, 0) @ readout / len(readout) - outputs(teacher, X)) ** 2
    return errors.mean(), errors.std() / 200


@pytest.mark.parametrize("samples", [5, 30])
def test_the_flow_is_gradient_descent_in_the_limit_of_small_steps(start, samples):
    """Of the same time, the learning rate times the steps. What is left is of first order in the rate."""
    data, problem, _ = followed(start, samples=(samples,), max_time=(8.0,), **FLOWS)
    assert data.sizes["run"] == 4 * 2 * 2
    for run, network, teacher, features, y, begin in cases(problem):
        readout = Modes.of_samples(features / 12, y, speed=12).after(begin, 8.0)
        coarse, fine = (descended(features, y, begin, rate, round(8 / rate)) for rate in (0.02, 0.01))
        np.testing.assert_allclose(2 * fine - coarse, readout, rtol=0, atol=2e-4 * np.abs(readout).max())
        assert 1.8 < np.linalg.norm(coarse - readout) / np.linalg.norm(fine - readout) < 2.2
        loss = ((features @ readout / 12 - y) ** 2).mean() / 2
        np.testing.assert_allclose(data["loss"][run], loss, rtol=1e-9)
        mean, error = sampled_risk(network, readout, teacher)
        assert abs(mean - data["risk_final"].values[run]) < 4 * error
    np.testing.assert_array_equal(data["time"], 8.0)
    np.testing.assert_array_equal(data["max_time"], 8.0)
    assert not data["converged"].any()


@pytest.mark.parametrize("samples", [5, 30])
def test_descent_of_the_readout_is_the_plain_loop(start, samples):
    told = {**FLOWS, "solver": "descent", "max_time": (2.0, 8.0), "learning_rate": 0.02, "max_steps": 300}
    data, problem, _ = followed(start, samples=(samples,), **told)
    assert data.sizes["run"] == 4 * 2 * 2 * 2
    for run, _, _, features, y, begin in cases(problem):
        steps = {2.0: 100, 8.0: 300}[problem.max_time[run]]  # the most that are asked for
        readout = descended(features, y, begin, 0.02, steps)
        np.testing.assert_allclose(data["loss"][run], ((features @ readout / 12 - y) ** 2).mean() / 2, rtol=1e-9)
        assert data["evaluations"][run] == steps
        assert data["time"][run] == pytest.approx(0.02 * steps)


def test_pretraining_with_an_infinite_anchor_trains_the_readout_alone():
    data = pretrained((0, 1), solver="exact", max_time=30.0, tolerance=1e-12)
    assert np.isinf(data["anchor"]).all()
    assert set(data["pretrain_solver"].values) == {"exact"}
    np.testing.assert_array_equal(data["first"], data["start_first"])
    for run in range(data.sizes["run"]):
        one = data.isel(run=run)
        network = Weights(one["first"].values.astype(float), np.zeros((1, 12)))
        source = Weights(one["teacher_directions"].values.astype(float), one["source_readout"].values[None])
        kernel, overlaps, power = quadratic(network, source)
        coarse, fine = (_population_descent(kernel, overlaps, rate) for rate in (0.02, 0.01))
        readout = one["second"].values[0]
        np.testing.assert_allclose(2 * fine - coarse, readout, rtol=0, atol=1e-3 * np.abs(fine).max())
        risk = readout @ kernel @ readout - 2 * readout @ overlaps + power
        assert risk == pytest.approx(2 * one["loss"].item(), rel=1e-4)


def _population_descent(kernel, overlaps, rate):
    readout = np.zeros(12)
    for _ in range(round(30 / rate)):
        readout = readout - rate * 12 * (kernel @ readout - overlaps)
    return readout
