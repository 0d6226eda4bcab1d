from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from carryover.training.diagonal_flow import gradient_flow
from carryover.training.exact import diagonal_flow_limit
from carryover.training.result import Divergence
from toy.diagonal_ensembles import ensemble as random_ensemble
from toy.diagonal_ensembles import part

ensemble = partial(random_ensemble, taught=True)


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


@settings(derandomize=True, deadline=None, max_examples=15)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), log_scale=st.floats(-4, 0))
def test_one_output_ends_in_the_exact_limit_whatever_the_accuracy(seed, n, log_scale):
    X, y, w = ensemble(seed, samples=(n,), D=12, scale=10**log_scale)
    start = (w.first_plus, w.second_plus[:, 0], w.first_minus, w.second_minus[:, 0])
    trained = gradient_flow(X, y, w, tolerance=1e-20, accuracy=0.3, device="cpu")
    assert trained.converged.all()
    exact = diagonal_flow_limit(X[0], y[0], *start)
    np.testing.assert_allclose(trained.weights.coefficients()[:, 0], exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.parametrize("samples", [(4,), (3, 5), (3, 12), (2, 3, 4)])
def test_path_and_end_are_those_of_an_independent_integrator(samples):
    X, y, w = ensemble(seed=3, runs=1, samples=samples)
    trained = gradient_flow(X, y, w, tolerance=0.0, accuracy=1e-4, max_steps=400, device="cpu")
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
    X, y, w = ensemble(seed=3, runs=2, samples=samples)
    options = {"tolerance": 1e-12, "accuracy": 1e-4, "max_steps": 10_000, "device": "cpu"}
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


def test_overflow_names_the_runs():
    X, y, w = ensemble()
    w.first_plus[1] = 1e200
    w.second_plus[1] = 1e200
    with pytest.raises(Divergence, match=r"runs \[1\]") as caught:
        gradient_flow(X, y, w, tolerance=1e-12, device="cpu")
    assert caught.value.runs == (1,)
