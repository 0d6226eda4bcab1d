"""The solved flow of readouts beside plain descent with small steps, SciPy's integration, and its own limits."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from carryover.networks.diagonal import Weights
from carryover.training.readout_flow import readout_flow


def networks(samples=4, runs=2, D=7, seed=0):
    rng = np.random.default_rng(seed)
    X, teacher = rng.standard_normal((runs, samples, D)), rng.standard_normal((runs, D))
    first = [np.exp(rng.standard_normal((runs, D))) for _ in range(2)]
    second = [0.3 * rng.standard_normal((runs, 1, D)) for _ in range(2)]
    return X, np.einsum("rnd,rd->rn", X, teacher), Weights(*first, *second), teacher


def integrated(X, y, start, run, end):
    """β of a run at a flow time, by SciPy on the readouts."""
    plus, minus = start.first_plus[run], start.first_minus[run]

    def velocity(_, readouts):
        beta = plus * readouts[: plus.size] - minus * readouts[plus.size :]
        gradient = 2 / len(y[run]) * X[run].T @ (y[run] - X[run] @ beta)
        return np.concatenate([plus * gradient, -minus * gradient])

    begin = np.concatenate([start.second_plus[run, 0], start.second_minus[run, 0]])
    found = solve_ivp(velocity, (0, end), begin, method="LSODA", rtol=1e-11, atol=1e-13).y[:, -1]
    return plus * found[: plus.size] - minus * found[plus.size :]


@pytest.mark.parametrize("samples", [3, 7, 12])
@pytest.mark.parametrize("end", [0.01, 0.3, 20.0])
def test_it_is_where_an_independent_integrator_is(samples, end):
    X, y, start, teacher = networks(samples)
    y = y + np.random.default_rng(1).standard_normal(y.shape)  # of more samples than dimensions some loss remains
    trained = readout_flow(X, y, start, tolerance=0.0, max_time=end, teacher=teacher)
    for run in (0, 1):
        beta = integrated(X, y, start, run, end)
        np.testing.assert_allclose(trained.weights.coefficients()[run, 0], beta, rtol=1e-7, atol=1e-8)
        assert trained.risk_final[run] == pytest.approx(np.sum((beta - teacher[run]) ** 2), rel=1e-6)
        assert trained.loss[run] == pytest.approx(np.mean((X[run] @ beta - y[run]) ** 2), rel=1e-6, abs=1e-9)
        for time, risk in zip(trained.time[run], trained.curves["risk"][run], strict=True):
            there = integrated(X, y, start, run, time)
            assert risk == pytest.approx(np.sum((there - teacher[run]) ** 2), rel=1e-5)


def test_it_stops_at_its_tolerance_or_time_whichever_is_first():
    X, y, start, teacher = networks()
    fitted = readout_flow(X, y, start, tolerance=1e-6, teacher=teacher)
    assert fitted.converged.all()
    np.testing.assert_allclose(fitted.loss, 1e-6, rtol=1e-8)
    ends = np.nanmax(fitted.time, axis=1)
    between = readout_flow(X, y, start, tolerance=1e-6, max_time=ends.mean(), teacher=teacher)
    np.testing.assert_array_equal(between.converged, ends < ends.mean())
    np.testing.assert_allclose(np.nanmax(between.time, axis=1), np.minimum(ends, ends.mean()))
    there = readout_flow(X, y, start, tolerance=1e6, teacher=teacher)
    np.testing.assert_array_equal(there.weights.second_plus, start.second_plus)
    np.testing.assert_array_equal(there.risk_best, there.risk_final)
    assert there.converged.all()
    assert np.isnan(there.time).all()
