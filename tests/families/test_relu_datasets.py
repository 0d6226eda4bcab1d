"""Datasets of the ReLU family: what they hold, how runs are named, and that a run depends on nothing but itself."""

import numpy as np
import pytest

from carryover.networks.relu import Weights
from carryover.theory.kernels import relu_risk, tangent_risk
from toy.relu_toys import TRAINED, finetuned, pretrained
from toy.shards import followed


@pytest.fixture(scope="module")
def start():
    return pretrained()


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
        errors = [network.outputs(task.X[task.sets[run]])[:, o] - task.y[run] for o, task in enumerate(problem.tasks)]
        assert float(data["loss"][run]) == pytest.approx(sum(np.mean(e**2) for e in errors), rel=1e-9)
        for task, name in zip(problem.tasks, ("teacher", "auxiliary"), strict=False):
            directions, readout = (values[run] for values in teacher_of(data, name))
            targets = np.maximum(task.X[task.sets[run]] @ directions.T, 0) @ readout
            np.testing.assert_allclose(targets, task.y[run], atol=1e-5)
