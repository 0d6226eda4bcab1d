"""What runs have before they are trained: kernels are those of automatic differentiation of their networks."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from carryover.config import plugins
from carryover.families.forecasts import Start, View, forecast_runs
from carryover.measures.forecast import MEANING
from carryover.measures.transfer_scores import logme
from carryover.networks import diagonal, relu
from carryover.networks.convnet import VGG5
from carryover.streams import generator
from carryover.tasks.image_tasks import PreparedImages, class_task
from carryover.tasks.images import images
from carryover.training.result import Samples
from toy.shards import shard

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((1, 7, 4)), RNG.standard_normal((1, 7))
TASK = Samples(X, Y, np.array([0]))


def gram(function, *weights):
    """(n, n) products of the gradients of `function(x, *weights)` at the inputs, and its values (n,)."""
    weights = [torch.as_tensor(one).requires_grad_() for one in weights]
    values = [function(torch.as_tensor(x), *weights) for x in X[0]]
    rows = [torch.cat([one.flatten() for one in torch.autograd.grad(value, weights)]) for value in values]
    return (torch.stack(rows) @ torch.stack(rows).T).numpy(), torch.stack(values).detach().numpy()


def view(family, problem, **p):
    (found,) = plugins.load(f"carryover.families.{family}.views").views(
        SimpleNamespace(**problem), SimpleNamespace(**p)
    )
    return found


def relu_network(x, first, second):
    return torch.relu(first @ x) @ second


@pytest.mark.parametrize("family", ["relu", "mean_field"])
def test_relu_networks_have_readouts_of_the_size_of_their_input_weights(family):
    first = RNG.standard_normal((6, 4))
    start = relu.Weights(first[None], np.zeros((1, 1, 6)))
    problem = {"tasks": [TASK], "task": TASK, "start": start, "networks": np.array([0])}
    found = view(family, problem)
    expected, _ = gram(relu_network, first, np.linalg.norm(first, axis=1))
    np.testing.assert_allclose(found.finetuning.kernels[1], expected)
    np.testing.assert_allclose(found.finetuning.kernels[0], found.features @ found.features.T)
    assert len(found.scratch) == len(found.fresh) == 2


def test_wide_networks_start_from_their_outputs_and_train_the_first_layer():
    first, second = RNG.standard_normal((6, 4)), RNG.standard_normal(6)
    start = relu.Weights(first[None], second[None, None])
    found = view("wide_relu", {"task": TASK, "start": start}, initial_scale=0.1)
    expected, outputs = gram(lambda x, first: relu_network(x, first, torch.as_tensor(second)), first)
    np.testing.assert_allclose(found.finetuning.kernels[0], expected)
    np.testing.assert_allclose(found.finetuning.outputs, outputs)


def test_diagonal_networks_have_a_small_readout():
    plus, minus = RNG.standard_normal((2, 4))
    small = np.full((1, 1, 4), 1e-9)
    found = view("diagonal", {"tasks": [TASK], "start": diagonal.Weights(plus[None], minus[None], small, small)})
    expected, _ = gram(lambda x, p, m, a, b: (a * p - b * m) @ x, plus, minus, small[0, 0], small[0, 0])
    np.testing.assert_allclose(found.finetuning.kernels[0], expected)


def test_deep_linear_networks_have_rank_one():
    beta, depth = RNG.standard_normal(4), 3
    size = np.linalg.norm(beta) ** (1 / depth)
    inner = RNG.standard_normal((2, 5))
    inner /= np.linalg.norm(inner, axis=1, keepdims=True)
    layers = [
        size * np.outer(inner[0], beta / np.linalg.norm(beta)),
        size * np.outer(inner[1], inner[0]),
        size * inner[1],
    ]
    found = view("deep_linear", {"task": TASK, "coefficients": beta[None], "depth": depth})
    expected, outputs = gram(lambda x, first, second, last: last @ (second @ (first @ x)), *layers)
    np.testing.assert_allclose(found.finetuning.kernels[0], expected / size ** (2 * depth - 2))
    np.testing.assert_allclose(found.finetuning.outputs, outputs)


def test_pairs_of_images_start_from_the_function_of_the_source():
    beta = RNG.standard_normal((1, 4))
    found = view("image_pairs", {"pixels": X, "labels": Y, "start": beta})
    expected, outputs = gram(lambda x, beta: x @ beta, beta[0])
    np.testing.assert_allclose(found.finetuning.kernels[0], expected)
    np.testing.assert_allclose(found.finetuning.outputs, outputs)


def test_convolutional_networks_have_the_gradients_of_a_random_readout_of_their_features():
    network = VGG5(torch.Generator().manual_seed(1), 2, 2, "small", 1)
    digits = images()
    task = class_task(digits, (3, 8))
    task = replace(task, train=task.train[:12], train_labels=task.train_labels[:12])
    problem = {"network": network, "state": lambda run: network.state_dict(), "tasks": [[task]],
               "images": PreparedImages(digits),
               "pretrained_readouts": [tuple(network.get_submodule(network.READOUT).parameters())]}  # fmt: skip
    found = view("convnet", problem, rescale=(1.0,))
    body = torch.nn.Sequential(network.features, network.avgpool, torch.nn.Flatten(), *network.classifier[:3]).eval()
    readout = torch.as_tensor(generator("forecast", "", 0, "readout").uniform(-1, 1, found.features.shape[1]))
    batch = problem["images"].batch("train", task.train)
    features = body(batch).detach()
    np.testing.assert_allclose(found.features, features, atol=1e-5)

    def value(parameters, image):
        return torch.func.functional_call(body, parameters, (image[None],))[0] @ readout.float()

    gradients = [torch.func.grad(value)(dict(body.named_parameters()), image).values() for image in batch]
    rows = torch.stack([torch.cat([one.flatten() for one in of_image]) for of_image in gradients]).detach()
    below = found.finetuning.kernels[1] - found.finetuning.kernels[0]
    np.testing.assert_allclose(below * len(readout), rows @ rows.T, rtol=1e-3)
    assert set(found.targets) == {-1, 1}
    assert len(found.scratch) == len(found.fresh) == len(found.fresh_probabilities) == 2
    np.testing.assert_allclose(found.probabilities, network.eval()(batch).softmax(1).detach(), atol=1e-5)


def test_classifiers_have_scores_of_their_own():
    features, targets = RNG.standard_normal((40, 3)), np.repeat([-1.0, 1.0], 20)
    start = Start([features @ features.T])
    known, unknown = np.eye(2)[(targets > 0).astype(int)], np.full((40, 2), 0.5)
    one = View(features, [features], targets, start, [start], known, [unknown])
    found = {name: values[0] for name, (_, values, _) in forecast_runs([one]).items()}
    assert found["score_leep"] == found["score_nce"] == 0
    np.testing.assert_allclose([found["score_leep_fresh"], found["score_nce_fresh"]], -np.log(2))


def test_forecasts_know_which_features_hold_the_target_and_say_nothing_of_few_samples():
    inputs = RNG.standard_normal((40, 30))
    (few,) = (inputs[:9],)
    views = [View(part[:, :2], [part], part[:, 0], Start([part[:, :2] @ part[:, :2].T]), [Start([part @ part.T])])
             for part in (inputs, few)]  # fmt: skip
    found = {name: values for name, (_, values, _) in forecast_runs(views).items()}
    assert found.keys() == MEANING.keys()
    assert found["forecast_probe"][0] > 0.99
    assert min(found[f"forecast_{arm}_gain_low"][0] for arm in ("probe", "finetune")) > 0
    assert found["score_logme"][0] == logme(inputs[:, :2], inputs[:, 0]) > found["score_logme_fresh"][0]
    assert all(np.isnan(values[1]) for values in found.values())


def test_runs_are_forecast_where_they_are_asked_to_be_and_start_from_pretrained_networks():
    told = {"dimension": 12, "auxiliary_features": 3}
    start = shard("diagonal", "pretrain", (0, 1), samples=20, **told)
    more = {"samples": (10,), "main_features": (2,), "overlap": (1.0,), "forecast": True, **told}
    found = shard("diagonal", "finetune", (0, 1), start, **more)
    assert np.isfinite(found["forecast_probe"]).all()
    assert "forecast_probe" not in shard("diagonal", "finetune", (0, 1), protocol="single_task", **more)
