"""The diagonal family: what a run starts from and sees, alone and together, how solvers agree, and what is refused."""

import numpy as np
import pytest
from scipy import linalg
from scipy.optimize import approx_fprime

from carryover.errors import UserError
from carryover.families.diagonal import parameters
from carryover.theory.layer_scales import pretrained_first_layer
from carryover.theory.norms import flow_penalty, q_norm
from toy.diagonal_toys import COARSE, finetuned, pretrained, problems
from toy.shards import followed


@pytest.fixture(scope="module")
def start():
    return pretrained()


# What a dataset holds.


def test_coefficients_teachers_and_loss_belong_to_the_weights(start):
    (problem,) = problems(start, protocol="multi_task")
    data = finetuned(start, "multi_task", "flow")
    w = {name: data[name].values for name in ("first_plus", "first_minus", "second_plus", "second_minus")}
    beta = w["second_plus"] * w["first_plus"][:, None] - w["second_minus"] * w["first_minus"][:, None]
    np.testing.assert_allclose(data["coefficients"], beta, rtol=1e-13)
    assert data["output"].values.tolist() == ["main", "auxiliary"]
    np.testing.assert_array_equal(data["auxiliary_teacher"], start["teacher"][:2])
    residuals = [task.X[0] @ b - task.y[0] for task, b in zip(problem.tasks, beta[0], strict=True)]
    assert float(data["loss"][0]) == pytest.approx(np.mean(np.concatenate(residuals) ** 2), rel=1e-5)
    for task, teacher in zip(problem.tasks, (data["teacher"], data["auxiliary_teacher"]), strict=True):
        np.testing.assert_allclose(task.y[1], task.X[1] @ teacher.values[1], rtol=1e-12)


# Where networks start.


def test_layers_of_any_balance_end_pretraining_where_theory_says():
    for balance in (-0.999, 0.0, 0.6):
        data = pretrained(initial_scale=0.5, balance=balance)
        first, second = (data[f"start_{name}_plus"].values.ravel() for name in ("first", "second"))
        np.testing.assert_allclose(first**2 + second**2, 0.5)
        np.testing.assert_allclose(first**2 - second**2, 0.5 * balance, atol=1e-12)
        paths = pretrained_first_layer(data["coefficients"][:, 0], 0.5, 0.5 * balance)
        for path, found in zip(paths, ("first_plus", "first_minus"), strict=True):
            np.testing.assert_allclose(path, data[found], rtol=1e-8)
        assert set(finetuned(data)["pretrain_balance"].values) == {balance}


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


def test_protocols_and_rescalings_of_a_seed_share_teacher_and_data(start):
    reference = problems(start, protocol="finetuning")[0]
    for protocol in parameters.PROTOCOLS:
        (problem,) = problems(start, protocol=protocol, rescale=(1.0, 0.1))
        task = problem.tasks[0]
        assert task.sets.tolist() == [0, 0, 1, 1]
        np.testing.assert_array_equal(task.X, reference.tasks[0].X)
        np.testing.assert_array_equal(task.y, reference.tasks[0].y[task.sets])
        np.testing.assert_array_equal(problem.teacher[::2], reference.teacher)
        np.testing.assert_array_equal(problem.teacher[1::2], reference.teacher)


def test_multi_task_sees_the_auxiliary_data_of_pretraining(start):
    _, ((alone, _),) = followed(pretrained, (0, 1))
    (together,) = problems(start, protocol="multi_task", auxiliary_samples=16)
    np.testing.assert_array_equal(together.tasks[1].X, alone.tasks[0].X[:, :16])
    np.testing.assert_array_equal(together.tasks[1].y, alone.tasks[0].y[:, :16])


# Where solvers end.


@pytest.mark.parametrize("protocol", ["single_task_probe", "finetuning_probe"])
def test_descent_of_probes_ends_at_their_limit(start, protocol):
    told = {**COARSE, "tolerance": 1e-10, "learning_rate": 0.01, "samples": (3,), "overlap": (1.0,)}
    limit, descent = (finetuned(start, protocol, name, **told)["coefficients"] for name in ("exact", "descent"))
    np.testing.assert_allclose(descent, limit, atol=1e-3 * np.abs(limit).max())


@pytest.mark.parametrize("protocol", ["single_task", "finetuning"])
def test_exact_flow_and_descent_agree(start, protocol):
    told = {**COARSE, "tolerance": 1e-10, "learning_rate": 0.01, "samples": (3,), "overlap": (1.0,)}
    limit, flow, descent = (finetuned(start, protocol, name, **told) for name in ("exact", "flow", "descent"))
    assert flow["converged"].all()
    assert descent["converged"].all()
    scale = np.abs(limit["coefficients"]).max()
    np.testing.assert_allclose(flow["coefficients"], limit["coefficients"], atol=1e-3 * scale)
    # The limit of finite steps differs from the flow's by first order in the step.
    np.testing.assert_allclose(descent["coefficients"], limit["coefficients"], atol=1e-2 * scale)
    assert np.all(flow["risk_best"] <= flow["risk_curve"].min("checkpoint") + 1e-12)
    for data in (limit, flow, descent):
        distance = np.linalg.norm(data["coefficients"].values[:, 0] - data["teacher"].values, axis=1)
        np.testing.assert_allclose(data["risk_final"], distance**2, rtol=1e-12)
        assert set(data["loss_function"].values) == {"squared"}


def test_a_flow_ends_at_the_time_that_is_asked_for(start):
    told = {**COARSE, "tolerance": 1e-12, "samples": (3,), "seeds": (0,), "max_time": 0.5}
    assert finetuned(start, "finetuning", "flow", **told)["time"].max() == 0.5


def test_multi_task_flow_and_descent_agree(start):
    told = {**COARSE, "tolerance": 1e-6, "samples": (3,), "seeds": (0,), "auxiliary_samples": 40}
    flow, descent = (finetuned(start, "multi_task", name, **told) for name in ("flow", "descent"))
    np.testing.assert_allclose(descent["coefficients"], flow["coefficients"], atol=3e-3)  # by the tolerance


def test_the_flow_minimises_its_penalty_and_symmetric_the_q_penalty_of_paths_that_start_alike(start):
    """Q with w1 = √|β_aux| on the auxiliary features: no slope is left among the solutions, and the flow has one."""
    options = {"seeds": (0,), "readout_scale": 0.1}

    def slope(penalty):
        gradient = approx_fprime(beta, penalty, 1e-7)
        return np.linalg.norm(linalg.null_space(X).T @ gradient) / np.linalg.norm(gradient)

    slopes = []
    for solver in ("symmetric", "exact"):
        data, ((problem, _),) = followed(finetuned, start, solver=solver, **options)
        first = np.maximum(problem.start.first_plus[0], problem.start.first_minus[0])
        np.testing.assert_allclose(first[:3].max(), np.abs(start["teacher"].values[0]).max() ** 0.5, rtol=1e-3)
        X, beta = problem.tasks[0].X[0], data["coefficients"].values[0, 0]
        np.testing.assert_allclose(X @ beta, problem.tasks[0].y[0], rtol=1e-9)
        slopes.append(slope(lambda beta, first=first: q_norm(beta, first, 0.1)))
    assert slopes[0] < 1e-4
    assert slopes[1] > 1e-3
    begun = problem.start
    begun = begun.first_plus[0], begun.second_plus[0, 0], begun.first_minus[0], begun.second_minus[0, 0]
    assert slope(lambda beta: flow_penalty(beta, *begun)) < 1e-4


# What is refused.


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"protocol": "multi_task"}, r"multi_task has no exact limit: choose solver flow or descent\."),
        (
            {"protocol": "finetuning_probe", "solver": "symmetric"},
            r"a probe minimises no Q penalty: choose solver exact or descent\.",
        ),
        (
            {"protocol": "finetuning_probe", "solver": "flow"},
            r"a probe needs no integrator: choose solver exact or descent\.",
        ),
        ({"main_features": (3,)}, r"overlap 0\.5 of 3 main features is 1\.5, no whole number\."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(start, told, sentence):
    with pytest.raises(UserError, match=f"^{sentence}$"):
        finetuned(start, **told)
