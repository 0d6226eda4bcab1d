"""The implicit norms against their definitions in high precision; the diagonal family has where flows end."""

import mpmath
import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from carryover.theory.norms import flow_penalty, l1_norm, l12_norm, q_norm

weights = st.builds(lambda sign, power: sign * 10.0**power, st.sampled_from([-1, 1]), st.floats(-6, 1))
coefficients = st.builds(lambda sign, power: sign * 10.0**power, st.sampled_from([-1, 1]), st.floats(-8, 3))


def parts(w1_plus, w2_plus, w1_minus, w2_minus):
    """A and B from s and d as the paper defines them."""
    s_plus, d_plus = (w1_plus + w2_plus) / 2, (w1_plus - w2_plus) / 2
    s_minus, d_minus = (w1_minus + w2_minus) / 2, (w1_minus - w2_minus) / 2
    return s_plus**2 + d_minus**2, s_minus**2 + d_plus**2


def precise_q(beta, w1, w2):
    """Equations 22-23 as printed, with 100 digits."""
    with mpmath.workdps(100):
        c = mpmath.mpf(w1) ** 2 + mpmath.mpf(w2) ** 2
        z = 2 * mpmath.mpf(beta) / c
        return float(c * (2 - mpmath.sqrt(4 + z**2) + z * mpmath.asinh(z / 2)))


def precise_flow(beta, *w):
    """The integral of z from the start, by its antiderivative, with 100 digits."""
    with mpmath.workdps(100):
        beta, (a, b) = mpmath.mpf(beta), parts(*map(mpmath.mpf, w))
        root = mpmath.sqrt(beta**2 + 4 * a * b)
        return float(beta * mpmath.log((beta + root) / (2 * a)) - root + a + b)


@given(coefficients, weights, weights)
@example(1.0, 1e-10, 2e-10)
@example(1.0, 1e-100, 2e-100)
def test_q_norm_is_the_printed_formula(beta, w1, w2):
    np.testing.assert_allclose(q_norm([beta], w1, w2), precise_q(beta, w1, w2), rtol=2e-15)


@given(coefficients, weights, weights, weights, weights)
def test_flow_penalty_is_the_integral_of_its_gradient(beta, w1_plus, w2_plus, w1_minus, w2_minus):
    w = (w1_plus, w2_plus, w1_minus, w2_minus)
    assume(np.prod(parts(*w)) > 0)  # one part alone is tested below
    # β near its start A − B: the change is known to the rounding of its two ends only.
    gap = abs(beta - (w[0] * w[1] - w[2] * w[3]))
    conditioning = np.finfo(float).eps * (abs(beta) + abs(w[0] * w[1]) + abs(w[2] * w[3])) / gap if gap else np.inf
    if conditioning < 1e-3:
        np.testing.assert_allclose(flow_penalty([beta], *w), precise_flow(beta, *w), rtol=5e-15 + 8 * conditioning)


def test_flow_penalty_does_not_cancel_close_to_the_start():
    w = np.array([0.7, 0.2, 0.5, -0.4])
    a, b = parts(*w)
    nudge = np.array([1e-3, 1e-6, -1e-9])
    beta = w[0] * w[1] - w[2] * w[3] + nudge
    expected = nudge**2 / (2 * (a + b))
    np.testing.assert_allclose(flow_penalty(beta[:, None], *w), expected, rtol=2e-3)
    np.testing.assert_allclose(flow_penalty(beta[1:, None], *w), expected[1:], rtol=2e-6)


def test_flow_penalty_with_one_part_only():
    """A = 0, B = 2: β = −2e⁻ᶻ cannot become positive."""
    beta = np.array([[-2.5], [-2.0], [-0.5], [0.0], [0.5], [2.5]])
    expected = [2 - 2.5 + 2.5 * np.log(1.25), 0, 2 - 0.5 + 0.5 * np.log(0.25), 2, np.inf, np.inf]
    np.testing.assert_allclose(flow_penalty(beta, 1, -1, 1, 1), expected, rtol=1e-14)
    np.testing.assert_allclose(flow_penalty(-beta, 1, 1, 1, -1), expected, rtol=1e-14)


@given(st.integers(0, 1000))
def test_l12_norm_is_half_the_smallest_parameter_norm(seed):
    """Equation 28 minimised numerically over the free input weight."""
    beta = np.random.default_rng(seed).normal(size=(3, 2))
    smallest = sum(
        minimize_scalar(lambda log_z, b=column: np.exp(2 * log_z) + b @ b * np.exp(-2 * log_z)).fun for column in beta.T
    )
    np.testing.assert_allclose(2 * l12_norm(beta), smallest, rtol=1e-9)
    np.testing.assert_allclose(l1_norm(beta), l12_norm(beta[:, None]))
