"""Descent and flow of diagonal networks against autograd and SciPy, what curves hold, and how runs end."""

from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from carryover.networks.diagonal import Weights
from carryover.training import diagonal, diagonal_flow
from carryover.training.exact import diagonal_flow_limit
from carryover.training.result import Divergence, Samples
from toy.relu_ensembles import OBJECTIVES


def ensemble(seed=0, runs=3, samples=(4,), D=7, scale=0.3, taught=False):
    """Inputs and targets of every output, and weights; targets are random, or those of a linear teacher."""
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((runs, n, D)) for n in samples]
    if taught:
        y = [np.einsum("rnd,rd->rn", x, rng.standard_normal((runs, D))) for x in X]
    else:
        y = [rng.standard_normal((runs, n)) for n in samples]
    first = [scale * rng.choice([-1, 1], (runs, D)) for _ in range(2)]
    second = [scale * np.exp(0.3 * rng.standard_normal((runs, len(samples), D))) for _ in range(2)]
    return X, y, Weights(*first, *second)


def trained(trainer, X, y, w, **told):
    """Every run with inputs and targets of its own, and, unless it is told, a teacher of zeros."""
    tasks = [Samples(x, t, np.arange(len(x))) for x, t in zip(X, y, strict=True)]
    posed = {"teacher": np.zeros_like(w.first_plus)}
    posed |= {name: told.pop(name) for name in ("teacher", "trainable", "weights") if name in told}
    return trainer(diagonal.Problem(tasks, w, **posed), **{"device": "cpu", **told})


gradient_descent = partial(trained, diagonal.gradient_descent)
gradient_flow = partial(trained, diagonal_flow.gradient_flow)


def part(X, y, w, run):
    """The same with one run alone."""
    pick = slice(run, run + 1)
    return [x[pick] for x in X], [t[pick] for t in y], w[pick]


def labelled(y):
    return [np.where(t < 0, -1.0, 1.0) for t in y]


def autograd(X, y, w, rate, steps, trainable, objective, weights):
    """The papers' loop: one network, torch's own gradients and losses."""
    X, y = [torch.tensor(x[0]) for x in X], [torch.tensor(t[0]) for t in y]
    first = [torch.tensor(a[0], requires_grad="first" in trainable) for a in (w.first_plus, w.first_minus)]
    second = [torch.tensor(a[0], requires_grad="second" in trainable) for a in (w.second_plus, w.second_minus)]
    moving = [p for p in (*first, *second) if p.requires_grad]
    optimiser = torch.optim.SGD(moving, lr=rate)
    for _ in range(steps):
        beta = second[0] * first[0] - second[1] * first[1]
        loss = sum(weight * objective(X[o] @ beta[o], y[o]) for o, weight in enumerate(weights))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return [p.detach().numpy() for p in (*first, *second)]


@pytest.mark.parametrize(("samples", "weights"), [((4,), None), ((4, 9), None), ((3, 4, 5), (0.2, 0.3, 0.5))])
@pytest.mark.parametrize("trainable", [("first", "second"), ("first",), ("second",)])
@pytest.mark.parametrize("loss", OBJECTIVES)
def test_steps_are_those_of_autograd(samples, weights, trainable, loss):
    X, y, w = ensemble(samples=samples)
    y = labelled(y) if loss == "cross_entropy" else y
    trained = gradient_descent(
        X, y, w, learning_rate=0.02, tolerance=0.0, max_steps=130, loss=loss, trainable=trainable, weights=weights
    )
    u = trained.weights
    for run in range(3):
        told = 0.02, 130, trainable, OBJECTIVES[loss], weights or [1] * len(samples)
        expected = autograd(*part(X, y, w, run), *told)
        for a, b in zip((u.first_plus, u.first_minus, u.second_plus, u.second_minus), expected, strict=True):
            np.testing.assert_allclose(a[run], b, rtol=1e-10, atol=1e-13)
    assert not trained.converged.any()
    np.testing.assert_array_equal(trained.evaluations, 131)


def test_normalised_steps_are_divided_by_the_loss_and_its_logarithm():
    """Against a plain loop over one network: early losses above 1/e, late ones far below."""
    X, y, w = ensemble(samples=(4, 5))
    y, rate, steps = labelled(y), 0.05, 400
    options = {"learning_rate": rate, "loss": "cross_entropy", "normalised": True}
    trained = gradient_descent(X, y, w, tolerance=0.0, max_steps=steps, **options)
    assert (trained.loss < 0.1).all()
    for run in range(3):
        Xs, ys, start = part(X, y, w, run)
        time, at = 0.0, {}
        first = [start.first_plus[0].copy(), start.first_minus[0].copy()]
        second = [start.second_plus[0].copy(), start.second_minus[0].copy()]
        for step in range(steps + 1):
            beta = second[0] * first[0] - second[1] * first[1]
            margins = [t[0] * (x[0] @ b) for x, t, b in zip(Xs, ys, beta, strict=True)]
            loss = sum(np.log1p(np.exp(-m)).mean() for m in margins)
            at[step] = time, loss
            force = [(t[0] / (1 + np.exp(m)) @ x[0]) / len(m) for x, t, m in zip(Xs, ys, margins, strict=True)]
            push = np.array(force) * rate / (loss * max(1.0, np.log(1 / loss)))
            time += rate / (loss * max(1.0, np.log(1 / loss)))
            for sign, path in ((1, 0), (-1, 1)):
                moved = first[path] + sign * (push * second[path]).sum(0), second[path] + sign * push * first[path]
                first[path], second[path] = moved
        np.testing.assert_allclose(trained.loss[run], loss, rtol=1e-8)
        times = trained.time[run][np.isfinite(trained.time[run])]
        np.testing.assert_allclose(times[-1], at[steps][0], rtol=1e-8)
        assert set(np.round(times, 6)) <= {round(time, 6) for time, _ in at.values()}
    short = gradient_descent(X, y, w, tolerance=1e-40, max_steps=20_000, **options)
    assert short.converged.all()  # plain steps would need e^90 of them


def test_risk_and_curves_belong_to_the_main_output():
    X, y, w = ensemble(samples=(4, 5))
    teacher = np.random.default_rng(1).standard_normal((3, 7))
    trained = gradient_descent(X, y, w, learning_rate=0.02, tolerance=0.0, max_steps=300, teacher=teacher)
    risk = np.sum((trained.weights.coefficients()[:, 0] - teacher) ** 2, axis=1)
    np.testing.assert_allclose(trained.curves["risk"][:, np.isfinite(trained.time[0])][:, -1], risk, rtol=1e-12)
    np.testing.assert_allclose(trained.risk_final, risk, rtol=1e-12)
    assert (trained.risk_best <= np.nanmin(trained.curves["risk"], axis=1) + 1e-15).all()
    first = np.sum((w.coefficients()[:, 0] - teacher) ** 2, axis=1)
    assert (trained.risk_best <= first).all()
    times = trained.time[0][np.isfinite(trained.time[0])]
    assert times[0] == pytest.approx(0.02)
    assert times[-1] == pytest.approx(6.0)
    assert (np.diff(trained.curves["loss"][0][: len(times)]) < 0).all()


def test_divergence_names_the_runs_and_the_learning_rate():
    X, y, w = ensemble(runs=4)
    for inputs in X:
        inputs[[1, 3]] *= 40
    with pytest.raises(Divergence, match=r"learning rate 0\.02 diverged in runs \[1, 3\]") as caught:
        gradient_descent(X, y, w, learning_rate=0.02, tolerance=1e-10, max_steps=1000)
    assert caught.value.runs == (1, 3)


taught = partial(ensemble, taught=True)


def arrays(w):
    return w.first_plus, w.first_minus, w.second_plus, w.second_minus


def integrate(X, y, w, end, trainable=("first", "second")):
    """β of one network at flow time `end`, by SciPy on the weights themselves."""
    first, second = np.stack(arrays(w)[:2])[:, 0], np.stack(arrays(w)[2:])[:, 0]
    sign = np.array([1.0, -1.0])[:, None]

    def split(state):
        return state[: first.size].reshape(first.shape), state[first.size :].reshape(second.shape)

    def velocity(_, state):
        f, s = split(state)
        beta = (sign[:, None] * s * f[:, None]).sum(0)
        g = np.stack([2 / x.shape[1] * x[0].T @ (t[0] - x[0] @ b) for x, t, b in zip(X, y, beta, strict=True)])
        df = sign * (g * s).sum(1) * ("first" in trainable)
        return np.concatenate([df.ravel(), (sign[:, None] * g * f[:, None] * ("second" in trainable)).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    f, s = split(solve_ivp(velocity, (0, end), start, method="LSODA", rtol=1e-11, atol=1e-14).y[:, -1])
    return (sign[:, None] * s * f[:, None]).sum(0)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), log_scale=st.floats(-4, 0))
def test_one_output_ends_in_the_exact_limit_whatever_the_accuracy(seed, n, log_scale):
    X, y, w = taught(seed, samples=(n,), D=12, scale=10**log_scale)
    start = (w.first_plus, w.second_plus[:, 0], w.first_minus, w.second_minus[:, 0])
    trained = gradient_flow(X, y, w, tolerance=1e-20, accuracy=0.3)
    assert trained.converged.all()
    exact = diagonal_flow_limit(X[0], y[0], *start)
    np.testing.assert_allclose(trained.weights.coefficients()[:, 0], exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("samples", [(4,), (3, 5), (3, 12), (2, 3, 4)])
def test_path_and_end_are_those_of_an_independent_integrator(samples):
    X, y, w = taught(seed=3, runs=1, samples=samples)
    trained = gradient_flow(X, y, w, tolerance=0.0, accuracy=1e-4, max_steps=400)
    last = int(np.isfinite(trained.time[0]).sum()) - 1
    scale = np.abs(trained.weights.coefficients()).max()
    end = integrate(X, y, w, trained.time[0, last])
    np.testing.assert_allclose(trained.weights.coefficients()[0], end, atol=2e-3 * scale)
    middle = last // 2
    beta = integrate(X, y, w, trained.time[0, middle])
    loss = sum(np.mean((x[0] @ b - t[0]) ** 2) for x, t, b in zip(X, y, beta, strict=True))
    assert trained.curves["loss"][0, middle] == pytest.approx(loss, rel=2e-3)


@pytest.mark.parametrize("samples", [(4,), (3, 5)])
def test_training_stops_at_a_flow_time(samples):
    X, y, w = taught(seed=3, runs=2, samples=samples)
    options = {"tolerance": 1e-12, "accuracy": 1e-4, "max_steps": 10_000}
    whole = gradient_flow(X, y, w, **options)
    ends = [whole.time[run][np.isfinite(whole.time[run])][-1] for run in (0, 1)]
    stop = 0.5 * min(ends)
    stopped = gradient_flow(X, y, w, max_time=stop, **options)
    assert not stopped.converged.any()
    for run in (0, 1):
        assert np.nanmax(stopped.time[run]) == stop
        beta = integrate(*part(X, y, w, run), stop)
        np.testing.assert_allclose(stopped.weights.coefficients()[run], beta, atol=2e-3 * np.abs(beta).max())
    late = gradient_flow(X, y, w, max_time=1.01 * max(ends), **options)
    assert late.converged.all()
    np.testing.assert_array_equal(late.weights.second_plus, whole.weights.second_plus)
