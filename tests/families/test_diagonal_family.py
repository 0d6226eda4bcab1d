"""Stages of the diagonal family: how a dataset is labelled, what a run starts from, where its weights end."""

import numpy as np
import pytest

from toy.diagonal_toys import COARSE, finetuned, pretrained, problems, weights


@pytest.fixture(scope="module")
def start():
    return pretrained()


# What a dataset holds.


@pytest.mark.parametrize("name", ["exact", "flow", "descent"])
def test_the_final_risk_is_that_of_the_final_coefficients(start, name):
    data = finetuned(start, name=name, **COARSE)
    distance = np.linalg.norm(data["coefficients"].values[:, 0] - data["teacher"].values, axis=1)
    np.testing.assert_allclose(data["risk_final"], distance**2, rtol=1e-12)
    assert set(data["loss_function"].values) == {"squared"}


def test_coefficients_teachers_and_loss_belong_to_the_weights(start):
    (problem,) = problems(start, protocol="multi_task")
    data = finetuned(start, "multi_task", "flow")
    w = weights(data)
    beta = w["second_plus"] * w["first_plus"][:, None] - w["second_minus"] * w["first_minus"][:, None]
    np.testing.assert_allclose(data["coefficients"], beta, rtol=1e-13)
    assert data["output"].values.tolist() == ["main", "auxiliary"]
    np.testing.assert_array_equal(data["auxiliary_teacher"], start["teacher"][:2])
    residuals = [X[0] @ b - y[0] for X, b, y in zip(problem.X, beta[0], problem.y, strict=True)]
    assert float(data["loss"][0]) == pytest.approx(np.mean(np.concatenate(residuals) ** 2), rel=1e-5)
    for o, teacher in enumerate((data["teacher"], data["auxiliary_teacher"])):
        np.testing.assert_allclose(problem.y[o][1], problem.X[o][1] @ teacher.values[1], rtol=1e-12)


# Where networks start.


def test_finetuning_starts_from_the_kept_first_layer_under_a_new_readout(start):
    data = finetuned(start, seeds=(2, 0), readout_scale=0.07)
    for name in ("first_plus", "first_minus"):
        np.testing.assert_array_equal(data[f"start_{name}"], start[name][[2, 0]])
    assert np.all(data["start_second_plus"] == 0.07)
    assert np.all(data["start_second_minus"] == 0.07)


@pytest.mark.parametrize(("rescaled", "readout"), [("first", (1.0, 1.0)), ("both", (1.0, 0.1))])
@pytest.mark.parametrize("protocol", ["finetuning", "single_task"])
def test_rescaling_multiplies_the_first_layer_or_both(start, protocol, rescaled, readout):
    scales = {"readout_scale": 0.05, "initial_scale": (0.05,)}
    data = finetuned(start, protocol, rescale=(1.0, 0.1), rescaled=rescaled, seeds=(1,), **scales)
    for sign in ("plus", "minus"):
        first = start[f"first_{sign}"].values[1] if protocol == "finetuning" else np.full(12, 0.05)
        np.testing.assert_allclose(data[f"start_first_{sign}"], [first, 0.1 * first], rtol=1e-15)
        expected = 0.05 * np.array(readout)[:, None, None] * np.ones((2, 1, 12))
        np.testing.assert_allclose(data[f"start_second_{sign}"], expected, rtol=1e-15)


# What training keeps.


# What a run sees.
