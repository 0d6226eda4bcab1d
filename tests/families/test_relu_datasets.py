"""Datasets of the ReLU family: what they hold, how runs are named, and that a run depends on nothing but itself."""

import numpy as np
import pytest

from carryover.families.relu import pretrain
from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk, tangent_risk
from rounding import assert_same_runs, share
from toy.relu_toys import FITTED, QUICK, TASK, TRAINED, finetuned, pretrained
from toy.shards import followed


@pytest.fixture(scope="module")
def start():
    return pretrained()


# What a dataset says is true.


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


@pytest.mark.parametrize("protocol", [*TRAINED, "finetuning_probe"])
def test_the_loss_is_that_of_the_final_network_on_what_it_was_taught(start, protocol):
    told = {"initial_scale": (0.5,), "precision": "float64"}
    data, ((problem, trained),) = followed(finetuned, start, protocol, **told)
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
            targets = pretrain.Teacher(directions, readout)(problem.X[o][problem.sets[run]])
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
