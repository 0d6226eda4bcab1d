"""Norms of hand-made solutions, worked out by hand, and where the flow's penalty has no meaning."""

from math import asinh, log, sqrt

import numpy as np
import pytest
import xarray as xr

from carryover.config.parameters import model_of
from carryover.measures import norms

SCALE = 0.5  # readout γ


def made(coefficients, protocol, start=((1.0, 0.5), (0.5, 0.5), (0.5, 0.5), (0.5, 0.5))):
    """One run with two inputs: main teacher (1, 0), auxiliary teacher (0, −2)."""
    named = {"long_name": "made for a test", "units": "1"}
    coefficients = np.array([coefficients], dtype=float)
    first_plus, first_minus, second_plus, second_minus = (np.array([values]) for values in start)
    outputs = coefficients.shape[1]
    return xr.Dataset(
        {
            "coefficients": (("run", "output", "input"), coefficients),
            "teacher": (("run", "input"), [[1.0, 0]]),
            "auxiliary_teacher": (("run", "input"), [[0, -2.0]]),
            "start_first_plus": (("run", "input"), first_plus),
            "start_first_minus": (("run", "input"), first_minus),
            "start_second_plus": (("run", "output", "input"), np.stack([second_plus] * outputs, 1)),
            "start_second_minus": (("run", "output", "input"), np.stack([second_minus] * outputs, 1)),
        },
        coords={"seed": ("run", [3], named), "protocol": ("run", [protocol], named)},
    )


def measure(*told, **more):
    return norms.measure(made(*told, **more), model_of("measures", "norms")(readout_scale=SCALE))


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
