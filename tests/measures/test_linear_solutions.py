"""Norms of hand-made linear solutions, worked out by hand, and shares of their weight, by brute force."""

from itertools import combinations
from math import asinh, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from carryover.config.plugins import model_of
from carryover.measures.linear_solutions import auxiliary_share, norms, sparsity, top_k_variance
from toy import made_up_networks

SCALE = 0.5  # readout γ


def made(coefficients, protocol, start=((1.0, 0.5), (0.5, 0.5), (0.5, 0.5), (0.5, 0.5))):
    """One run with two inputs: main teacher (1, 0), auxiliary teacher (0, −2)."""
    first_plus, first_minus, second_plus, second_minus = start
    outputs = len(coefficients)
    variables = {
        "coefficients": [np.array(coefficients, dtype=float)], "teacher": [[1.0, 0]], "auxiliary_teacher": [[0, -2.0]],
        "start_first_plus": [first_plus], "start_first_minus": [first_minus],
        "start_second_plus": [[second_plus] * outputs], "start_second_minus": [[second_minus] * outputs],
    }  # fmt: skip
    return made_up_networks.networks(variables, protocol=[protocol])


def measure(*told, **more):
    return norms(made(*told, **more), model_of("measures", "norms")(readout_scale=SCALE))


def q(z):
    return 2 - sqrt(4 + z**2) + z * asinh(z / 2)


def test_l1_and_q_of_solution_and_teacher():
    measured = measure([[3.0, -4.0]], "finetuning")
    assert float(measured["l1_norm"][0]) == 7
    assert float(measured["l1_norm_teacher"][0]) == 1
    new, known = SCALE**2, 2 + SCALE**2  # c = w1² + w2², with w1² = |β_aux| = (0, 2)
    assert float(measured["q_norm"][0]) == pytest.approx(new * q(2 * 3 / new) + known * q(2 * 4 / known), rel=1e-12)
    assert float(measured["q_norm_teacher"][0]) == pytest.approx(new * q(2 / new), rel=1e-12)


def test_l12_joins_the_auxiliary_teacher_or_what_the_network_learned_itself():
    assert float(measure([[3.0, -4.0]], "finetuning")["l12_norm"][0]) == pytest.approx(3 + sqrt(16 + 4))
    together = measure([[3.0, -4.0], [4.0, 3.0]], "multi_task")
    assert float(together["l12_norm"][0]) == pytest.approx(5 + 5)
    assert float(together["l12_norm_teacher"][0]) == pytest.approx(1 + 2)


def test_flow_penalty_is_that_of_the_real_start():
    """Second input: all weights ½, so A = B = ¼. First: A = (3/4)² , B = ½² + (1/4)² = 5/16 from w1₊ = 1, others ½."""
    divergence = 0.0
    for beta, A, B in ((3.0, 9 / 16, 5 / 16), (-4.0, 1 / 4, 1 / 4)):
        root = sqrt(beta**2 + 4 * A * B)
        P, N = (root + beta) / 2, (root - beta) / 2
        divergence += P * log(P / A) - P + A + N * log(N / B) - N + B
    assert float(measure([[3.0, -4.0]], "finetuning")["flow_penalty"][0]) == pytest.approx(divergence, rel=1e-12)


@pytest.mark.parametrize(
    ("coefficients", "protocol"),
    [
        ([[3.0, -4.0], [4.0, 3.0]], "multi_task"),
        ([[3.0, -4.0]], "finetuning_probe"),
        ([[3.0, -4.0]], "single_task_probe"),
    ],
)
def test_there_is_no_flow_penalty_for_several_outputs_or_a_probe(coefficients, protocol):
    measured = measure(coefficients, protocol)
    for name, values in measured.data_vars.items():
        assert np.isnan(values.values).all() == name.startswith("flow_penalty"), name


SOLUTIONS = arrays(float, st.integers(1, 7), elements=st.floats(-10, 10).map(lambda v: round(v, 3))).filter(np.any)


@given(SOLUTIONS)
def test_the_top_k_are_the_best_k(beta):
    shares = top_k_variance(beta, len(beta))
    for k in range(1, len(beta) + 1):
        best = max(sum(beta[i] ** 2 for i in chosen) for chosen in combinations(range(len(beta)), k))
        assert shares[k - 1] == pytest.approx(best / np.sum(beta**2), rel=1e-12)


@given(SOLUTIONS, st.integers(0, 1000))
def test_the_auxiliary_share_splits_the_norm_in_two(beta, seed):
    auxiliary = np.random.default_rng(seed).choice([0.0, -0.3, 0.3], len(beta))
    inside = sum(b**2 for b, a in zip(beta, auxiliary, strict=True) if a != 0) ** 0.5
    share, rest = auxiliary_share(beta, auxiliary), auxiliary_share(beta, auxiliary == 0)
    assert share == pytest.approx(inside / sum(b**2 for b in beta) ** 0.5, rel=1e-9)
    assert share**2 + rest**2 == pytest.approx(1, rel=1e-12)


def test_measure_takes_the_main_readout_and_cuts_at_the_largest_k():
    data = made_up_networks.networks(
        {
            "coefficients": [[[3.0, 0, -4, 0], [1, 1, 1, 1]], [[0, 0, 2, 1], [0, 0, 0, 0]]],
            "teacher": [[0.0, 0, 1, 0], [1, 0, 0, 1]],
            "auxiliary_teacher": [[-0.7, 0.7, 0, 0], [0, 0.7, 0.7, 0]],
        }
    )
    measured = sparsity(data, model_of("measures", "sparsity")(largest_k=3))
    np.testing.assert_allclose(measured["top_k_variance"], [[0.64, 1, 1], [0.8, 1, 1]])
    np.testing.assert_allclose(measured["top_k_variance_teacher"], [[1, 1, 1], [0.5, 1, 1]])
    np.testing.assert_allclose(measured["auxiliary_share"], [0.6, 2 / 5**0.5])
    np.testing.assert_allclose(measured["auxiliary_share_teacher"], [0, 0])
    assert measured["k"].values.tolist() == [1, 2, 3]
    assert set(measured.coords) == {"seed", "k"}
    assert sparsity(data, model_of("measures", "sparsity")()).sizes["k"] == 4
