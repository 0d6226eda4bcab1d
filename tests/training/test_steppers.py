"""RODAS against SciPy's integrators, stability and order of both methods, and Cholesky factors against NumPy."""

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from carryover.training.steppers import RKC2, RODAS, Cholesky

A = torch.tensor([[0.3, -1.0, 0.2], [1.0, -0.5, 0.4], [0.0, 0.7, -0.9]], dtype=torch.float64)
START = torch.tensor([[0.4, -0.2, 0.7], [1.0, 0.3, -0.5]], dtype=torch.float64)


def velocity(u):
    return torch.sin(u @ A.T) - u**3


def advanced(u, h):
    """(u, error) after one step of every run, with Jacobians of automatic differentiation and dense solutions."""
    jacobians = torch.stack([torch.func.jacrev(velocity)(row) for row in u])
    matrix = torch.eye(3, dtype=u.dtype) / (RODAS.GAMMA * h[:, :, None]) - jacobians
    return RODAS.step(velocity, lambda right: torch.linalg.solve(matrix, right), u, velocity(u), h)


def test_rodas_is_of_order_four_and_its_error_estimate_too():
    options = {"rtol": 1e-13, "atol": 1e-13, "method": "DOP853"}
    exact = solve_ivp(lambda _, u: velocity(torch.as_tensor(u)[None])[0].numpy(), (0, 1), START[0], **options).y[:, -1]
    distances, errors = [], []
    for steps in (32, 64, 128):
        u, h = START[:1], torch.full((1, 1), 1 / steps, dtype=torch.float64)
        largest = 0.0
        for _ in range(steps):
            u, error = advanced(u, h)
            largest = max(largest, float(error.abs().max()))
        distances.append(np.abs(u[0].numpy() - exact).max())
        errors.append(largest)
    orders = np.log2(np.array(distances[:-1]) / distances[1:])
    assert orders == pytest.approx(4, abs=0.3)
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx(RODAS.ORDER, abs=0.3)  # of one step


@pytest.mark.parametrize("rate", [1e3, 1e8, 1e14])
def test_a_stiff_decay_is_over_after_one_step_however_long(rate):
    u, h = torch.ones(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    matrix = 1 / (RODAS.GAMMA * h) + rate
    after, _ = RODAS.step(lambda u: -rate * u, lambda right: right / matrix, u, -rate * u, h)
    assert abs(float(after)) < 50 / rate


@pytest.mark.parametrize("stages", [2, 3, 7, 30, 100])
def test_rkc2_is_stable_up_to_its_limit_and_of_second_order(stages):
    mu, nu, tilde, gamma = RKC2.coefficients(stages).T

    def polynomial(z):
        before, now = 1.0, 1 + tilde[1] * z
        for j in range(2, stages + 1):
            new = (1 - mu[j] - nu[j]) + mu[j] * now + nu[j] * before + z * (tilde[j] * now + gamma[j])
            before, now = now, new
        return now

    z = np.linspace(0, RKC2.LIMIT * (stages**2 - 1), 2001)
    assert (np.abs(polynomial(-z)) <= 1 + 1e-12).all()
    assert RKC2.stages_for(z[-1:], np.ones(1)) == stages
    small = 1e-3
    assert abs(polynomial(small) - 1 - small - small**2 / 2) < small**3
    assert abs(polynomial(-small) - 1 + small - small**2 / 2) < small**3


@pytest.mark.parametrize(("dtype", "rtol"), [(torch.float32, 1e-3), (torch.float64, 1e-11)])
def test_factors_solve_systems_of_lower_triangles_and_say_where_there_are_none(dtype, rtol):
    rng = np.random.default_rng(0)
    half, right = rng.standard_normal((3, 5, 5)), rng.standard_normal((3, 5))
    matrices = half @ half.mT + np.eye(5)
    matrices[1] *= -1
    factors = Cholesky(torch.tensor(np.tril(matrices), dtype=dtype))
    assert factors.done.tolist() == [True, False, True]
    found = factors.solve(torch.tensor(right, dtype=dtype))
    for run in (0, 2):
        np.testing.assert_allclose(found[run], np.linalg.solve(matrices[run], right[run]), rtol=rtol)
