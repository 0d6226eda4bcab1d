"""Stages of the diagonal family: what a run starts from and sees, where each solver ends, how a dataset is labelled."""

import dataclasses
import importlib
from itertools import product

import numpy as np
import pytest

from carryover import store
from carryover.errors import UserError
from carryover.families.diagonal import ensembles, exact, finetune, pretrain
from carryover.training.losses import LOSSES

TASK = {"dimension": 12, "auxiliary_features": 3}
COARSE = {"initial_scale": (0.3,), "readout_scale": 0.3, "tolerance": 1e-8, "learning_rate": 0.02}
WEIGHTS = ("first_plus", "first_minus", "second_plus", "second_minus")
PRETRAINED = ("finetuning", "finetuning_probe")


def solver(name):
    return importlib.import_module(f"carryover.families.diagonal.{name}").solve


def pretrained(seeds=(0, 1, 2), name="exact", **changes):
    p = pretrain.Parameters(**TASK, **{"samples": 20, "initial_scale": 0.1, "solver": name, **changes})
    return pretrain.run(p, "toy", list(seeds), solver(name))


@pytest.fixture(scope="module")
def start():
    return pretrained()


def finetuned(start, protocol="finetuning", name="exact", seeds=(0, 1), solve=None, **changes):
    told = {"samples": (4,), "main_features": (2,), "overlap": (0.5,), "auxiliary_samples": 16, **changes}
    p = finetune.Parameters(**TASK, protocol=protocol, solver=name, **told)
    return finetune.run(p, "toy", list(seeds), solve or solver(name), start if protocol in PRETRAINED else None)


def problems(start, **told):
    """The problems that the solver is handed, one per sample size."""
    handed = []

    def solve(problem, p, progress):
        handed.append(problem)
        return exact.at(problem, problem.start)

    finetuned(start, solve=solve, **told)
    return handed


def weights(data, prefix=""):
    return {name: data[prefix + name].values for name in WEIGHTS}


# What a dataset holds.


@pytest.mark.parametrize(
    ("protocol", "name"),
    [*product(finetune.PROTOCOLS, ["flow", "descent"]), ("single_task", "exact"), ("finetuning", "symmetric")],
)
def test_every_dataset_is_labelled_and_kept_as_it_is(start, protocol, name, tmp_path):
    data = finetuned(start, protocol, name, samples=(3, 4), rescale=(1.0, 0.5), **{**COARSE, "max_steps": 3})
    assert dict(data.sizes) == {
        "run": 8, "output": 2 if protocol == "multi_task" else 1, "input": 12,
        "checkpoint": 64 if name in ("flow", "descent") else 1,
    }  # fmt: skip
    for variable in data.variables.values():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == "1"
    assert ("pretrain_solver" in data.coords) == (protocol in PRETRAINED)
    store.save(data, tmp_path / "data.nc")
    assert store.load(tmp_path / "data.nc").identical(data)


def test_runs_are_every_combination_and_are_named(start):
    data = finetuned(start, samples=(3, 5), main_features=(1, 2), overlap=(0.0, 1.0), rescale=(1.0, 0.1))
    names = ("samples", "seed", "main_features", "overlap", "rescale")
    found = list(zip(*(data[name].values.tolist() for name in names), strict=True))
    assert found == list(product((3, 5), (0, 1), (1, 2), (0.0, 1.0), (1.0, 0.1)))
    assert set(data["protocol"].values) == {"finetuning"}
    assert set(data["solver"].values) == {"exact"}
    assert set(data["pretrain_solver"].values) == {"exact"}
    assert data["output"].values.tolist() == ["main"]


def test_cross_entropy_datasets_have_a_curve_of_effective_features(start, tmp_path):
    told = {**COARSE, "tolerance": 1e-3, "learning_rate": 0.1, "max_steps": 300, "loss": "cross_entropy"}
    for protocol in finetune.PROTOCOLS:
        data = finetuned(start, protocol, "descent", **told)
        curves = {name for name in data.data_vars if name.endswith("_curve")}
        assert curves == {"loss_curve", "risk_curve", "effective_features_curve"}
        assert set(data["loss_function"].values) == {"cross_entropy"}
        last = np.isfinite(data["time"].values[0]).sum() - 1
        beta = np.abs(data["coefficients"].values[:, 0])
        features = data["effective_features_curve"].values[:, last]
        np.testing.assert_allclose(features, beta.sum(1) ** 2 / (beta**2).sum(1), rtol=1e-9)
        np.testing.assert_allclose(data["risk_curve"].values[:, last], data["risk_final"], rtol=1e-9)
        assert np.all((data["risk_final"] >= 0) & (data["risk_final"] <= 1))
        store.save(data, tmp_path / "data.nc")
        assert store.load(tmp_path / "data.nc").identical(data)


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
    loss = sum(
        np.mean((X @ b - y) ** 2)
        for X, b, y in zip((X[0] for X in problem.X), beta[0], (y[0] for y in problem.y), strict=True)
    )
    assert float(data["loss"][0]) == pytest.approx(loss, rel=1e-5)
    for o, teacher in enumerate((data["teacher"], data["auxiliary_teacher"])):
        np.testing.assert_allclose(problem.y[o][1], problem.X[o][1] @ teacher.values[1], rtol=1e-12)


# Where networks start.


def test_pretraining_recovers_the_teacher_from_more_samples_than_dimensions(start):
    np.testing.assert_allclose(start["coefficients"][:, 0], start["teacher"], atol=1e-12)
    assert not np.allclose(start["teacher"][0], start["teacher"][1])


@pytest.mark.parametrize("name", ["flow", "descent"])
def test_simulated_pretraining_recovers_it_too(name):
    data = pretrained(name=name, samples=60, tolerance=1e-10, learning_rate=0.1)
    assert data["converged"].all()
    assert np.all(data["loss"] <= 1e-10)
    np.testing.assert_allclose(data["coefficients"][:, 0], data["teacher"], atol=1e-4)


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


@pytest.mark.parametrize("protocol", ["single_task", "single_task_probe", "multi_task"])
def test_from_scratch_all_weights_are_small_and_alike(start, protocol):
    data = finetuned(start, protocol, "flow", initial_scale=(0.02,), max_steps=1)
    for values in weights(data, "start_").values():
        assert np.all(values == 0.02)


def test_several_initial_scales_share_one_shard(start):
    told = {"rescale": (1.0, 0.5), "initial_scale": (0.2, 0.01), "seeds": (0, 1)}
    data = finetuned(start, "single_task", **told)
    found = list(zip(*(data[name].values.tolist() for name in ("seed", "rescale", "initial_scale")), strict=True))
    assert found == list(product((0, 1), (1.0, 0.5), (0.2, 0.01)))
    for values in weights(data, "start_").values():
        expected = (data["rescale"] * data["initial_scale"]).values
        np.testing.assert_allclose(values.reshape(8, -1), np.tile(expected[:, None], 12), rtol=1e-15)
    one = finetuned(start, "single_task", **{**told, "initial_scale": (0.01,)})
    np.testing.assert_array_equal(one["coefficients"], data["coefficients"][1::2])


@pytest.mark.parametrize("protocol", PRETRAINED)
def test_finetuning_has_no_initial_scale(start, protocol):
    data = finetuned(start, protocol, initial_scale=(0.2, 0.01))
    assert np.isnan(data["initial_scale"]).all()
    assert data.sizes["run"] == 2


# What training keeps.


@pytest.mark.parametrize(
    ("protocol", "name"), [*product(["single_task", "finetuning"], ["exact", "flow"]), ("multi_task", "flow")]
)
def test_flow_keeps_the_difference_of_squares(start, protocol, name):
    data = finetuned(start, protocol, name)
    before, after = weights(data, "start_"), weights(data)
    for sign in ("plus", "minus"):
        kept = [w[f"first_{sign}"] ** 2 - np.sum(w[f"second_{sign}"] ** 2, axis=1) for w in (before, after)]
        np.testing.assert_allclose(*kept, atol=1e-13)


@pytest.mark.parametrize("name", ["exact", "flow", "descent"])
@pytest.mark.parametrize("protocol", ["single_task_probe", "finetuning_probe"])
def test_a_probe_keeps_the_first_layer_and_moves_the_readout(start, protocol, name):
    data = finetuned(start, protocol, name, **{**COARSE, "tolerance": 1e-3})
    np.testing.assert_array_equal(data["first_plus"], data["start_first_plus"])
    np.testing.assert_array_equal(data["first_minus"], data["start_first_minus"])
    assert np.abs(data["second_plus"] - data["start_second_plus"]).max() > 0.01


# What a run sees.


def test_protocols_and_rescalings_of_a_seed_share_teacher_and_data(start):
    reference = problems(start, protocol="finetuning")[0]
    for protocol in finetune.PROTOCOLS:
        (problem,) = problems(start, protocol=protocol, rescale=(1.0, 0.1))
        assert problem.draw.tolist() == [0, 0, 1, 1]
        np.testing.assert_array_equal(problem.X[0], reference.X[0])
        np.testing.assert_array_equal(problem.y[0], reference.y[0])
        np.testing.assert_array_equal(problem.teacher[::2], reference.teacher)
        np.testing.assert_array_equal(problem.teacher[1::2], reference.teacher)


def test_cross_entropy_learns_the_signs_of_the_same_outputs(start):
    for protocol in finetune.PROTOCOLS:
        (outputs,) = problems(start, protocol=protocol)
        (labels,) = problems(start, protocol=protocol, name="descent", loss="cross_entropy")
        for o in range(len(outputs.X)):
            np.testing.assert_array_equal(labels.X[o], outputs.X[o])
            np.testing.assert_array_equal(labels.y[o], np.sign(outputs.y[o]))


def test_cross_entropy_pretrains_too():
    data = pretrained(name="descent", samples=60, loss="cross_entropy", learning_rate=0.5, max_steps=500, seeds=(0, 1))
    assert set(data["loss_function"].values) == {"cross_entropy"}
    assert np.all(data["risk_final"] < 0.15)
    cosine = np.sum(data["coefficients"].values[:, 0] * data["teacher"].values, axis=1)
    cosine /= np.linalg.norm(data["coefficients"].values[:, 0], axis=1) * np.linalg.norm(data["teacher"], axis=1)
    np.testing.assert_allclose(data["risk_final"], np.arccos(cosine) / np.pi, rtol=1e-9)


def test_more_samples_start_with_the_same_ones(start):
    few, many = problems(start, samples=(3, 7))
    np.testing.assert_array_equal(few.X[0], many.X[0][:, :3])
    np.testing.assert_array_equal(few.y[0], many.y[0][:, :3])


def test_multi_task_sees_the_auxiliary_data_of_pretraining(start):
    handed = []
    p = pretrain.Parameters(**TASK, samples=20)
    pretrain.run(
        p, "toy", [0, 1], lambda problem, p, progress: handed.append(problem) or exact.at(problem, problem.start)
    )
    (together,) = problems(start, protocol="multi_task", auxiliary_samples=16)
    np.testing.assert_array_equal(together.X[1], handed[0].X[0][:, :16])
    np.testing.assert_array_equal(together.y[1], handed[0].y[0][:, :16])


def test_equal_numbers_are_one_condition(start):
    (whole,), (fraction,) = (problems(start, overlap=overlap) for overlap in ((1,), (1.0,)))
    np.testing.assert_array_equal(whole.X[0], fraction.X[0])


def test_conditions_and_experiments_have_inputs_of_their_own(start):
    (problem,) = problems(start, overlap=(0.0, 0.5), main_features=(2, 4), seeds=(0,))
    assert len(np.unique(problem.X[0][:, 0, 0])) == 4
    p = pretrain.Parameters(**TASK, samples=20)
    other = pretrain.run(p, "other", [0], exact.solve)
    assert not np.array_equal(other["teacher"][0], start["teacher"][0])


@pytest.mark.parametrize(("protocol", "name"), [("finetuning", "exact"), ("finetuning", "flow"), ("multi_task", "flow"),
                                                ("single_task", "descent"), ("finetuning", "symmetric")])  # fmt: skip
def test_a_run_is_the_same_alone_as_in_a_batch(start, protocol, name):
    several = {"samples": (3, 4), "main_features": (1, 2), "overlap": (0.0, 1.0), "rescale": (1.0, 0.5)}
    batch = finetuned(start, protocol, name, seeds=(0, 2), **several, **COARSE)
    for index in (0, 13, 30):
        run = batch.isel(run=[index])
        alone = {key: (run[key].item(),) for key in several}
        single = finetuned(start, protocol, name, seeds=run["seed"].values.tolist(), **alone, **COARSE)
        assert single.coords.to_dataset().identical(run.coords.to_dataset())
        for variable in batch.data_vars:
            np.testing.assert_allclose(single[variable], run[variable], rtol=1e-9, atol=1e-13, err_msg=variable)


@pytest.mark.parametrize("name", ["flow", "descent"])
def test_chunks_of_an_ensemble_come_together_in_order(start, name, monkeypatch):
    told = {"overlap": (0.0, 0.5), "rescale": (1.0, 0.5), **COARSE}
    whole = finetuned(start, "single_task", name, **told)
    monkeypatch.setattr(ensembles, "BYTES", 3 * 4 * 12 * 8)  # three runs at a time, of eight
    chunked = finetuned(start, "single_task", name, **told)
    for variable in whole.data_vars:
        np.testing.assert_allclose(chunked[variable], whole[variable], rtol=1e-9, atol=1e-13, err_msg=variable)


# Where solvers end.


@pytest.mark.parametrize("protocol", ["single_task", "single_task_probe", "finetuning", "finetuning_probe"])
def test_exact_flow_and_descent_agree(start, protocol):
    told = {**COARSE, "tolerance": 1e-10, "learning_rate": 0.01, "samples": (3,), "overlap": (1.0,)}
    limit, flow, descent = (finetuned(start, protocol, name, **told) for name in ("exact", "flow", "descent"))
    assert flow["converged"].all()
    assert descent["converged"].all()
    scale = np.abs(limit["coefficients"]).max()
    np.testing.assert_allclose(flow["coefficients"], limit["coefficients"], atol=1e-3 * scale)
    # The limit of finite steps differs from the flow's by first order in the step; a probe's does not.
    np.testing.assert_allclose(descent["coefficients"], limit["coefficients"], atol=1e-2 * scale)
    assert np.all(flow["risk_best"] <= flow["risk_curve"].min("checkpoint") + 1e-12)


def test_multi_task_flow_and_descent_agree(start):
    told = {**COARSE, "tolerance": 1e-5, "samples": (3,), "seeds": (0,), "auxiliary_samples": 40}
    flow, descent = (finetuned(start, "multi_task", name, **told) for name in ("flow", "descent"))
    np.testing.assert_allclose(descent["coefficients"], flow["coefficients"], atol=3e-3)  # by the tolerance


# What is refused.


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"protocol": "multi_task"}, r"multi_task has no exact limit: choose solver flow or descent\."),
        (
            {"protocol": "multi_task", "name": "symmetric"},
            r"multi_task has no exact limit: choose solver flow or descent\.",
        ),
        (
            {"protocol": "finetuning_probe", "name": "symmetric"},
            r"a probe minimises no Q penalty: choose solver exact, .*",
        ),
        ({"main_features": (11,), "overlap": (0.0,)}, r"11 new features do not fit into the 9 dimensions .*"),
        ({"main_features": (3,)}, r"overlap 0\.5 of 3 main features is 1\.5, no whole number\."),
        ({"seeds": (1, 4, 5)}, r"the pretrained shard has the seeds \[0, 1, 2\], but not \[4, 5\]\."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(start, told, sentence):
    with pytest.raises(UserError, match=f"^{sentence}$"):
        finetuned(start, **told)


@pytest.mark.parametrize("name", ["exact", "flow", "symmetric"])
def test_cross_entropy_is_for_descent(start, name):
    sentence = rf"^solver {name} minimises the squared error: choose solver descent for loss cross_entropy\.$"
    with pytest.raises(UserError, match=sentence):
        finetuned(start, name=name, loss="cross_entropy")


def test_losses_to_choose_from_are_those_that_there_are():
    for stage in (pretrain, finetune):
        (field,) = (f for f in dataclasses.fields(stage.Parameters) if f.name == "loss")
        assert field.metadata["choices"] == tuple(LOSSES)


def test_the_pretrained_shard_must_be_there_exactly_if_it_is_used(start):
    for protocol, shard, sentence in (
        ("finetuning", None, "finetuning starts from pretrained networks: name their shard with --pretrained."),
        ("single_task", start, "single_task starts from scratch: leave --pretrained out."),
        ("finetuning", start.isel(input=slice(5)), "dimension is 12, but the pretrained networks have 5."),
    ):
        with pytest.raises(UserError) as error:
            finetune.run(finetune.Parameters(**TASK, protocol=protocol), "toy", [0], exact.solve, shard)
        assert str(error.value) == sentence
