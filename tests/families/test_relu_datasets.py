"""Datasets of the ReLU family: what they hold, how runs are named, and that a run depends on nothing but itself."""

from itertools import product

import numpy as np
import pytest

import collect
from carryover.families.relu import finetune, task
from carryover.networks.relu import Weights
from carryover.provenance import store
from carryover.theory.kernels import relu_risk, tangent_risk
from rounding import assert_same_runs, share
from toy.relu_toys import FITTED, QUICK, TASK, TRAINED, finetuned, pretrained, solver

LOSSES = ("squared", "cross_entropy")


@pytest.fixture(scope="module")
def start():
    return pretrained()


def check(data, tmp_path):
    for variable in data.variables.values():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == "1"
    store.save(data, tmp_path / "data.nc")
    assert store.load(tmp_path / "data.nc").identical(data)


# What a dataset holds.


@pytest.mark.parametrize(
    ("protocol", "loss"), [*product(TRAINED, LOSSES), *((protocol, "squared") for protocol in FITTED)]
)
def test_every_dataset_is_labelled_and_kept_as_it_is(start, protocol, loss, tmp_path):
    rescale = (1.0, 0.5) if protocol in finetune.WHOLE["protocol"] else (1.0,)
    data = finetuned(start, protocol, loss=loss, samples=(3, 4), rescale=rescale, max_epochs=3)
    check(data, tmp_path)
    assert dict(data.sizes) == {
        "run": 4 * len(rescale), "output": 2 if protocol == "multi_task" else 1, "unit": 9, "input": 7,
        "teacher_unit": 2, "auxiliary_unit": 3, "checkpoint": 1 if protocol in FITTED else 64,
    }  # fmt: skip
    assert data["output"].values.tolist() == ["main", "auxiliary"][: data.sizes["output"]]
    assert data["first"].dims == data["start_first"].dims == ("run", "unit", "input")
    assert data["second"].dims == data["start_second"].dims == ("run", "output", "unit")
    assert data["first"].dtype == data["start_second"].dtype == np.float32
    assert data["risk_final"].dtype == data["loss_curve"].dtype == np.float64
    curves = {name for name in data.data_vars if name.endswith("_curve")}
    assert curves == {"loss_curve", "risk_curve"} | ({"effective_features_curve"} if loss == "cross_entropy" else set())
    assert ("learning_rate" in data) == (protocol in TRAINED)
    assert ("ridge_strength" in data) == (protocol in FITTED)
    assert ("pretrain_solver" in data.coords) == (protocol in finetune.PRETRAINED)
    assert set(data["protocol"].values) == {protocol}
    assert set(data["solver"].values) == {"ridge" if protocol in FITTED else "descent"}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_pretrained_dataset_is_labelled_and_kept_as_it_is(loss, tmp_path):
    data = pretrained(loss=loss, max_epochs=3)
    check(data, tmp_path)
    assert data["output"].values.tolist() == ["auxiliary"]
    assert data["seed"].values.tolist() == [0, 1, 2]
    assert set(data["pretrain_solver"].values) == {"descent"}
    np.testing.assert_array_equal(data["teacher_directions"], data["auxiliary_directions"].values)
    np.testing.assert_array_equal(data["teacher_readout"], data["auxiliary_readout"].values)


def test_what_a_run_does_not_have_is_nan_or_empty_once_collected(start):
    shards = [
        finetuned(start, protocol, max_epochs=1) for protocol in ("finetuning", "single_task", "finetuning_kernel")
    ]
    names = ["risk_final", "loss", "learning_rate"]
    data = collect.collect([shard[[name for name in names if name in shard]] for shard in shards])
    assert data["pretrain_solver"].values.tolist() == ["descent"] * 2 + [""] * 2 + ["descent"] * 2
    np.testing.assert_array_equal(data["initial_scale"], [np.nan] * 2 + [1e-3] * 2 + [np.nan] * 2)
    np.testing.assert_array_equal(np.isnan(data["learning_rate"]), [False] * 4 + [True] * 2)


def test_main_tasks_with_fewer_units_than_others_are_padded_with_nothing(start):
    data = finetuned(start, "single_task", main_features=(1, 4), overlap=(0.0, 1.0)[:1], max_epochs=1, seeds=(0,))
    for run, k in enumerate((1, 4)):
        readout = data["teacher_readout"].values[run]
        assert np.count_nonzero(readout) == k
        assert (readout[k:] == 0).all()
        assert np.linalg.norm(readout) == pytest.approx(1, rel=1e-6)
        np.testing.assert_allclose(np.linalg.norm(data["teacher_directions"].values[run, :k], axis=1), 1, rtol=1e-6)


# What it says is true.


def teacher_of(data, name="teacher"):
    return data[f"{name}_directions"].values.astype(float), data[f"{name}_readout"].values.astype(float)


@pytest.mark.parametrize("protocol", [*TRAINED, "single_task_probe", "finetuning_probe"])
def test_the_final_risk_is_that_of_the_final_network(start, protocol):
    data = finetuned(start, protocol, initial_scale=(0.5,), magnitude=(1.0, 2.0), main_features=(2, 4))
    network = data["first"].values, data["second"].values[:, 0]
    np.testing.assert_allclose(data["risk_final"], relu_risk(*network, *teacher_of(data)), rtol=1e-4)


@pytest.mark.parametrize("protocol", ["single_task_kernel", "finetuning_kernel"])
def test_a_tangent_kernel_has_the_network_that_it_is_the_kernel_of(start, protocol):
    data = finetuned(start, protocol, initial_scale=(0.5,), samples=(5,))
    np.testing.assert_array_equal(data["first"], data["start_first"])
    np.testing.assert_array_equal(data["second"], data["start_second"])
    still = 0 * data["first"].values, 0 * data["second"].values[:, 0]
    unfitted = tangent_risk(data["first"].values, data["second"].values[:, 0], *still, *teacher_of(data))
    assert (np.abs(data["risk_final"] / unfitted - 1) > 1e-3).all()


@pytest.mark.parametrize("protocol", ["single_task_probe", "finetuning_probe"])
def test_a_probe_keeps_the_first_layer_and_replaces_the_readout(start, protocol):
    data = finetuned(start, protocol)
    np.testing.assert_array_equal(data["first"], data["start_first"])
    assert np.abs(data["second"] - data["start_second"]).max() > 0.01
    assert np.isnan(data["risk_best"]).all()
    assert np.isnan(data["time"]).all()


@pytest.mark.parametrize("protocol", [*TRAINED, "finetuning_probe"])
def test_the_loss_is_that_of_the_final_network_on_what_it_was_taught(start, protocol):
    seen = []

    def solve(problem, p, progress):
        seen.append((problem, solver(p.solver)(problem, p, progress)))
        return seen[-1][1]

    data = finetuned(start, protocol, solve=solve, initial_scale=(0.5,), precision="float64")
    ((problem, trained),) = seen
    for name in ("first", "second"):
        np.testing.assert_array_equal(data[name], getattr(trained.weights, name).astype(np.float32))
    for run in range(2):
        network = Weights(trained.weights.first[run], trained.weights.second[run])
        errors = [
            network.outputs(X[problem.sets[run]])[:, o] - y[run]
            for o, (X, y) in enumerate(zip(problem.X, problem.y, strict=True))
        ]
        assert float(data["loss"][run]) == pytest.approx(sum(np.mean(e**2) for e in errors), rel=1e-9)
        for o, name in enumerate(("teacher", "auxiliary")[: len(problem.X)]):
            directions, readout = (values[run] for values in teacher_of(data, name))
            targets = task.Teacher(directions, readout)(problem.X[o][problem.sets[run]])
            np.testing.assert_allclose(targets, problem.y[o][run], atol=1e-5)


# A run depends on nothing but itself.


@pytest.mark.portable
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize("protocol", TRAINED)
def test_a_run_is_the_same_to_rounding_alone_as_in_a_shard(start, protocol, size, precision):
    several = {"samples": (4, 7), "main_features": (2, 4), "overlap": (0.0, 0.5), "magnitude": (1.0, 2.0)}
    settings = {"batch_size": size, "precision": precision, "tolerance": 0.2, "initial_scale": (0.5,), "width": 9}
    shard = finetuned(start, protocol, seeds=(0, 2), **several, **settings)
    assert len(set(shard["evaluations"].values)) > 1
    for index in (0, 13, 30):
        run = shard.isel(run=[index])
        alone = {key: (run[key].item(),) for key in several}
        single = finetuned(start, protocol, seeds=run["seed"].values.tolist(), **alone, **settings)
        units = slice(0, single.sizes["teacher_unit"])
        steps = QUICK["max_epochs"] * (4 if size else 1)
        terms = TASK["dimension"] + settings["width"] + 12
        assert_same_runs(single, run.isel(teacher_unit=units), share(precision, steps, terms))


@pytest.mark.portable
@pytest.mark.parametrize("size", [0, 6])
def test_more_seeds_pretrain_the_same_networks(size):
    settings = {"batch_size": size, "tolerance": 0.1}
    block = pretrained(seeds=(0, 1, 2, 3), **settings)
    for seeds in ((2,), (3, 0)):
        part = block.isel(run=list(seeds))
        assert_same_runs(pretrained(seeds=seeds, **settings), part, share("float32", 30 * 4, 7 + 9 + 20))


@pytest.mark.portable
@pytest.mark.parametrize("protocol", FITTED)
def test_a_fit_is_the_same_alone(start, protocol):
    shard = finetuned(start, protocol, samples=(3, 6), overlap=(0.0, 0.5), seeds=(0, 2))
    alone = finetuned(start, protocol, samples=(6,), overlap=(0.5,), seeds=(2,))
    assert_same_runs(alone, shard.isel(run=[7]), share("float64", 1, 1e6))  # a linear system, of some condition
