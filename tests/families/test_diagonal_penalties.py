"""Which penalty each solver minimises among the solutions, by descent within them and by its gradient."""

import numpy as np
import pytest
from scipy import linalg
from scipy.optimize import approx_fprime, minimize

from carryover.theory.norms import flow_penalty, q_norm
from toy.diagonal_toys import finetuned, pretrained
from toy.shards import followed

READOUT = 0.1


@pytest.fixture(scope="module")
def start():
    return pretrained((0,))


def solved(solver, start=None, **told):
    """The problem, and the one network that the solver finds for it."""
    data, ((problem, _),) = followed(finetuned, start, solver=solver, seeds=(0,), readout_scale=READOUT, **told)
    return problem, data


def minimiser(penalty, X, y):
    """β with Xβ = y at which `penalty` is smallest, found by descent within the solutions."""
    particular, free = linalg.lstsq(X, y)[0], linalg.null_space(X)
    found = minimize(lambda v: penalty(particular + free @ v), np.zeros(free.shape[1]), tol=1e-12)
    return particular + free @ found.x


def gradient_outside_rows(penalty, beta, X):
    """Part of the penalty's gradient that no combination of samples makes up, relative to the gradient."""
    gradient = approx_fprime(beta, penalty, 1e-7)
    return np.linalg.norm(linalg.null_space(X).T @ gradient) / np.linalg.norm(gradient)


@pytest.mark.parametrize("rescale", [1.0, 0.3])
def test_exact_and_symmetric_minimise_the_penalty_they_name(start, rescale):
    """exact: the flow's penalty from the real start. symmetric: Q with w1 = √|β_aux| on the auxiliary features."""
    problem, flowed = solved("exact", start, rescale=(rescale,), rescaled="first")
    _, alike = solved("symmetric", start, rescale=(rescale,), rescaled="first")
    X, y = problem.X[0][0], problem.y[0][0]
    plus, minus = problem.start.first_plus[0], problem.start.first_minus[0]
    first, auxiliary = np.maximum(plus, minus), start["teacher"].values[0]
    # Pretraining from .1 also conserves w1₊w1₋ = .01, so w1² exceeds |β_aux| = .577 by .01²/.577.
    np.testing.assert_allclose(first[auxiliary != 0] / rescale, np.abs(auxiliary[auxiliary != 0]) ** 0.5, rtol=2e-4)

    def penalty(beta):
        return flow_penalty(beta, plus, READOUT, minus, READOUT)

    def q(beta):
        return q_norm(beta, first, READOUT)

    for data, named, other in ((flowed, penalty, q), (alike, q, penalty)):
        beta = data["coefficients"].values[0, 0]
        np.testing.assert_allclose(X @ beta, y, rtol=1e-9)
        np.testing.assert_allclose(beta, minimiser(named, X, y), atol=1e-5)
        assert gradient_outside_rows(named, beta, X) < 1e-4
        assert gradient_outside_rows(other, beta, X) > 1e-2


def test_from_scratch_both_penalties_have_one_minimiser():
    _, flowed = solved("exact", protocol="single_task", initial_scale=(0.3,))
    problem, alike = solved("symmetric", protocol="single_task", initial_scale=(0.3,))
    np.testing.assert_allclose(flowed["coefficients"], alike["coefficients"], atol=1e-12)
    beta = minimiser(lambda beta: q_norm(beta, 0.3, 0.3), problem.X[0][0], problem.y[0][0])
    np.testing.assert_allclose(alike["coefficients"].values[0, 0], beta, atol=1e-5)
