"""Solvers of mean-field networks against plain loops, SciPy and sampling."""

import numpy as np
import pytest
import torch
from scipy import linalg

from carryover.families.mean_field import task
from carryover.networks.relu import Weights
from toy.mean_field_toys import finetuned, followed, pretrained

PRECISE = {"precision": "float64"}


@pytest.fixture(scope="module")
def start():
    return pretrained(max_steps=300)


def plain(first, readout, X, y, rate, steps):
    """Mean-field gradient descent on half the mean squared error as the paper writes it, by autograd."""
    w, c = (torch.tensor(values, requires_grad=True) for values in (first, readout))
    X, y = torch.tensor(X), torch.tensor(y)
    for _ in range(steps):
        loss = (((torch.relu(X @ w.T) @ c) / len(c) - y) ** 2).mean() / 2
        dw, dc = torch.autograd.grad(loss, (w, c))
        with torch.no_grad():
            w -= rate * len(c) * dw
            c -= rate * len(c) * dc
            w /= w.norm(dim=1, keepdim=True)
    loss = (((torch.relu(X @ w.T) @ c) / len(c) - y) ** 2).mean() / 2
    return w.detach().numpy(), c.detach().numpy(), loss.item()


@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
def test_training_is_that_of_the_paper_s_plain_loop(start, protocol):
    data, problem, trained = followed(
        start if protocol == "finetuning" else None, protocol,
        draws=2, samples=(5,), max_steps=25, tolerance=1e-15, noise=0.3, **PRECISE,
    )  # fmt: skip
    assert len(problem.networks) == (8 if protocol == "finetuning" else 4)
    for run, (network, samples) in enumerate(zip(problem.networks, problem.sets, strict=True)):
        begin = problem.start.first[network], problem.start.second[network, 0]
        begin = begin[0] / np.linalg.norm(begin[0], axis=1, keepdims=True), begin[1]
        first, readout, loss = plain(*begin, problem.X[samples], problem.y[samples], 0.2, 25)
        np.testing.assert_allclose(trained.weights.first[run], first, rtol=0, atol=1e-6)
        np.testing.assert_allclose(trained.weights.second[run, 0], readout, rtol=0, atol=1e-6)
        np.testing.assert_allclose(data["loss"][run], loss, rtol=1e-6)
    np.testing.assert_allclose(data["learning_rate"], 0.2)
    last = np.isfinite(data["time"].values[0]).sum() - 1
    np.testing.assert_allclose(data["time"][:, last], 0.2 * 25)
    np.testing.assert_allclose(data["loss_curve"][:, last], data["loss"])


def test_the_risk_is_the_mean_over_new_inputs(start):
    data, problem, trained = followed(start, "finetuning")
    X = np.random.default_rng(0).standard_normal((40_000, 4))
    which, teacher = problem.networks, problem.teacher
    expected = task.outputs(Weights(teacher.first[which], teacher.second[which]), X)
    errors = (task.outputs(trained.weights, X) - expected) ** 2
    assert (np.abs(errors.mean(1) - data["risk_final"].values) < 4 * errors.std(1) / 200).all()
    for name, square in (("power", expected**2), ("variance", (expected - expected.mean(1, keepdims=True)) ** 2)):
        assert (np.abs(square.mean(1) - data[f"target_{name}"].values) < 4 * square.std(1) / 200).all()


@pytest.mark.parametrize("samples", [5, 40])
@pytest.mark.parametrize("cutoff", [0.0, 0.05])
def test_least_squares_is_the_fit_of_least_norm(start, samples, cutoff):
    told = {"readout": ("least_squares",), "cutoff": cutoff, "draws": 2, "noise": 0.2}
    data, problem, _ = followed(start, samples=(samples,), **told)
    rng = np.random.default_rng(1)
    for run, (network, chosen) in enumerate(zip(problem.networks, problem.sets, strict=True)):
        first, y = problem.start.first[network], problem.y[chosen]
        features = np.maximum(problem.X[chosen] @ first.T, 0) / 12
        readout = linalg.pinv(features, atol=0, rtol=max(cutoff, 1e-14)) @ y
        loss = ((features @ readout - y) ** 2).mean() / 2
        np.testing.assert_allclose(data["loss"][run], loss, rtol=1e-6, atol=1e-18)
        X = rng.standard_normal((40_000, 4))
        teacher = Weights(problem.teacher.first[network], problem.teacher.second[network])
        errors = (np.maximum(X @ first.T, 0) @ readout / 12 - task.outputs(teacher, X)) ** 2
        assert abs(errors.mean() - data["risk_final"].values[run]) < 4 * errors.std() / 200


def test_a_network_that_is_left_alone_has_the_risk_of_the_pretrained_one(start):
    data = finetuned(start, "pretrained")
    np.testing.assert_array_equal(data["first"], start["first"].values[:4])
    network = Weights(data["first"].values.astype(float), data["second"].values.astype(float))
    target = Weights(data["teacher_directions"].values, data["teacher_readout"].values[:, None])
    X = np.random.default_rng(3).standard_normal((40_000, 4))
    errors = (task.outputs(network, X) - task.outputs(target, X)) ** 2
    assert (np.abs(errors.mean(1) - data["risk_final"].values) < 4 * errors.std(1) / 200).all()
    assert (data["evaluations"] == 0).all()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_pretraining_along_the_flow_is_descent_with_ever_smaller_steps(precision):
    told = {"anchor": (0.0, 0.1), "tolerance": 1e-12, "seeds": (0, 1)}
    flow = pretrained(solver="flow", max_time=40.0, accuracy=0.001, max_steps=5000, precision=precision, **told)
    assert (flow["time"].max("checkpoint") == 40).all()
    rates = (0.04, 0.02)
    coarse, fine = (pretrained(learning_rate=rate, max_steps=round(40 / rate), **PRECISE, **told) for rate in rates)
    for name in ("loss", "risk_final"):
        np.testing.assert_allclose(flow[name], 2 * fine[name] - coarse[name], rtol=0.01)
    np.testing.assert_allclose(flow["first"], fine["first"], rtol=0, atol=0.01)
    np.testing.assert_allclose(flow["second"], fine["second"], rtol=0, atol=0.02)
    assert (flow["evaluations"] < fine["evaluations"]).all()
    assert not flow["converged"].any()


@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
def test_the_flow_is_descent_with_ever_smaller_steps(protocol):
    wide = {"width": 60, "dimension": 8, "teacher_scale": (1.0,), **PRECISE}
    given = pretrained(max_steps=300, **wide) if protocol == "finetuning" else None
    told = {"samples": (5,), "tolerance": 1e-7, "max_steps": 20_000, **wide}
    flow, problem, trained = followed(given, protocol, solver="flow", accuracy=0.003, **told)
    coarse, fine = (finetuned(given, protocol, learning_rate=rate, **told) for rate in (0.2, 0.1))
    assert all(data["converged"].all() for data in (flow, coarse, fine))
    limit = 2 * fine["risk_final"] - coarse["risk_final"]  # the error of descent is of first order in its step
    np.testing.assert_allclose(flow["risk_final"], limit, rtol=0.01)
    assert (flow["loss"] <= 1e-7).all()
    begin = problem.start.first[problem.networks]
    np.testing.assert_allclose(*(np.linalg.norm(w, axis=2) for w in (trained.weights.first, begin)), rtol=1e-12)
    assert np.abs(trained.weights.first - begin).max() > 0.02
    assert "learning_rate" not in flow
