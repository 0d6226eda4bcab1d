"""Solvers of mean-field networks against plain loops, SciPy and sampling."""

import numpy as np
import pytest
import torch
from scipy import linalg

from carryover.networks.relu import Weights
from toy.mean_field_toys import finetuned, followed, outputs, pretrained


@pytest.fixture(scope="module")
def start():
    return pretrained()


def plain(first, readout, X, y, rate, tolerance):
    """Mean-field gradient descent on half the mean squared error as the paper writes it, by autograd."""
    w, c = (torch.tensor(values, requires_grad=True) for values in (first, readout))
    X, y = torch.tensor(X), torch.tensor(y)
    for step in range(100_000):
        loss = (((torch.relu(X @ w.T) @ c) / len(c) - y) ** 2).mean() / 2
        if loss.item() <= tolerance:
            return w.detach().numpy(), c.detach().numpy(), rate * step
        dw, dc = torch.autograd.grad(loss, (w, c))
        with torch.no_grad():
            w -= rate * len(c) * dw
            c -= rate * len(c) * dc
            w /= w.norm(dim=1, keepdim=True)
    raise AssertionError("descent did not come to its tolerance")


@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
def test_the_flow_is_the_paper_s_descent_with_ever_smaller_steps(protocol):
    wide = {"width": 60, "dimension": 8, "teacher_scale": (1.0,)}
    given = pretrained(ablated=(0.5,), max_time=20.0, **wide) if protocol == "finetuning" else None
    told = {"samples": (5,), "tolerance": 1e-3, "max_steps": 20_000, "accuracy": 0.001, "noise": 0.3}
    flow, problem, trained = followed(given, protocol, seeds=(0,), **told, **wide)
    assert flow["converged"].all()
    for run, (network, samples) in enumerate(zip(problem.networks, problem.task.sets, strict=True)):
        begin = problem.start.first[network], problem.start.second[network, 0]
        begin = begin[0] / np.linalg.norm(begin[0], axis=1, keepdims=True), begin[1]
        coarse, fine = (plain(*begin, problem.task.X[samples], problem.task.y[run], rate, 1e-3) for rate in (0.2, 0.1))
        X = np.random.default_rng(0).standard_normal((1000, 8))
        far, near = (np.maximum(X @ first.T, 0) @ readout / 60 for first, readout, _ in (coarse, fine))
        found = outputs(trained.weights[run], X)
        assert np.sqrt(np.mean((found - (2 * near - far)) ** 2)) < 0.02 * found.std()
        np.testing.assert_allclose(np.nanmax(flow["time"][run]), 2 * fine[2] - coarse[2], rtol=0.05)
        lengths = np.linalg.norm(trained.weights.first[run], axis=1)
        np.testing.assert_allclose(lengths, np.linalg.norm(problem.start.first[network], axis=1), rtol=1e-12)
    assert "learning_rate" not in flow


def test_training_that_stops_at_a_time_is_there_where_longer_training_was():
    told = {
        "width": 60,
        "dimension": 8,
        "teacher_scale": (1.0,),
        "accuracy": 0.001,
        "tolerance": 1e-9,
        "max_steps": 20_000,
    }
    flow, _, _ = followed(None, "single_task", seeds=(0,), samples=(5,), scratch_time=(2.0, 8.0, 1e6),
                          **told)  # fmt: skip
    two = pretrained((0,), ablated=(0.5,), max_time=(2.0, 8.0), **told)
    one = pretrained((0,), ablated=(0.5,), max_time=8.0, **told)
    assert two["pretrain_time"].values.tolist() == [2.0, 8.0]
    for stopped, whole in ((flow, flow.isel(run=2)), (two, one.isel(run=0))):
        times, losses = whole["time"].values, np.log(whole["loss_curve"].values)
        known = np.isfinite(times)
        for run, end in enumerate((2.0, 8.0)):
            assert np.nanmax(stopped["time"][run]) == pytest.approx(end, rel=1e-12)
            expected = np.exp(np.interp(end, times[known], losses[known]))
            np.testing.assert_allclose(stopped["loss"][run], expected, rtol=0.03)
    assert flow["converged"].values.tolist() == [0, 0, 1]
    # Runs that differ in time alone share a trajectory: a later one has the steps of an earlier one, and goes on.
    alone, _, _ = followed(None, "single_task", seeds=(0,), samples=(5,), scratch_time=(8.0,), **told)
    for shared, single in ((flow, alone), (two, one)):
        np.testing.assert_allclose(shared["loss"][1], single["loss"][0], rtol=0.01)
        assert set(shared["time"].values[0]) & set(shared["time"].values[1]) >= {2.0}
        assert shared["evaluations"][1] > shared["evaluations"][0]


def test_the_risk_is_the_mean_over_new_inputs(start):
    data, problem, trained = followed(start, "finetuning")
    X = np.random.default_rng(0).standard_normal((40_000, 4))
    which, teacher = problem.networks, problem.teacher
    expected = outputs(Weights(teacher.first[which], teacher.second[which]), X)
    errors = (outputs(trained.weights, X) - expected) ** 2
    assert (np.abs(errors.mean(1) - data["risk_final"].values) < 4 * errors.std(1) / 200).all()
    for name, square in (("power", expected**2), ("variance", (expected - expected.mean(1, keepdims=True)) ** 2)):
        assert (np.abs(square.mean(1) - data[f"target_{name}"].values) < 4 * square.std(1) / 200).all()


@pytest.mark.parametrize("samples", [5, 40])
@pytest.mark.parametrize("cutoff", [0.0, 0.05])
def test_least_squares_is_the_fit_of_least_norm(start, samples, cutoff):
    told = {"readout": ("least_squares",), "cutoff": cutoff, "draws": 2, "noise": 0.2}
    data, problem, _ = followed(start, samples=(samples,), **told)
    for run, (network, chosen) in enumerate(zip(problem.networks, problem.task.sets, strict=True)):
        first, y = problem.start.first[network], problem.task.y[run]
        features = np.maximum(problem.task.X[chosen] @ first.T, 0) / 12
        readout = linalg.pinv(features, atol=0, rtol=max(cutoff, 1e-14)) @ y
        loss = ((features @ readout - y) ** 2).mean() / 2
        np.testing.assert_allclose(data["loss"][run], loss, rtol=1e-6, atol=1e-18)


def test_a_network_that_is_left_alone_has_the_risk_of_the_pretrained_one(start):
    data = finetuned(start, "pretrained")
    np.testing.assert_array_equal(data["first"], start["first"].values[:4])
    network = Weights(data["first"].values.astype(float), data["second"].values.astype(float))
    target = Weights(data["teacher_directions"].values, data["teacher_readout"].values[:, None])
    X = np.random.default_rng(3).standard_normal((40_000, 4))
    errors = (outputs(network, X) - outputs(target, X)) ** 2
    assert (np.abs(errors.mean(1) - data["risk_final"].values) < 4 * errors.std(1) / 200).all()
    assert (data["evaluations"] == 0).all()
