"""Linear probes of finetuned networks against ridge regression with every sample left out in turn."""

import numpy as np
import torch

from carryover.config.plugins import model_of
from carryover.measures import linear_probe
from carryover.networks.convnet import ResNet18
from carryover.networks.convnet_layers import renewing_statistics
from carryover.networks.convnet_weights import unpack
from carryover.streams import generator
from carryover.tasks.image_tasks import PreparedImages, class_task, sample_task
from carryover.tasks.images import images
from toy import convnet_networks


def ridge(X, y, strength, new):
    """Outputs for `new` of ridge regression with an intercept."""
    centred, level = X - X.mean(0), y.mean()
    weights = np.linalg.solve(centred.T @ centred + strength * np.eye(X.shape[1]), centred.T @ (y - level))
    return (new - X.mean(0)) @ weights + level


def accuracy(state, task, tested, prepared):
    network = ResNet18(torch.Generator(), 2, 1, "small", 1)
    network.load_state_dict(unpack(network, state))
    with renewing_statistics(network):
        network(prepared.batch("test", tested))
    features = []
    for part, indices in (("train", task.train), ("test", tested)):
        with torch.no_grad():
            features.append(dict(network.stage_outputs(prepared.batch(part, indices)))["pooled"].double().numpy())
    X, new = (part / np.sqrt(features[0].var(0).mean()) for part in features)
    signs = 2.0 * task.train_labels - 1

    def left_out(strength):
        rest = [np.arange(len(X)) != i for i in range(len(X))]
        return sum((ridge(X[some], signs[some], strength, X[~some]) - signs[~some])[0] ** 2 for some in rest)

    best = min(np.logspace(-2, 4, 7), key=left_out)
    expected = task.test_labels[np.isin(task.test, tested)]
    return ((ridge(X, signs, best, new) > 0) == expected).mean()


def test_probes_are_ridge_classifiers_of_the_features_before_and_after_finetuning():
    data = convnet_networks._shard("kept")
    found = linear_probe.linear_probe(data, model_of("measures", "linear_probe")(count=40))
    prepared = PreparedImages(images("digits"))
    for run in range(data.sizes["run"]):
        start, classes = int(data["start"][run]), str(data["target_classes"].values[run])
        whole = class_task(prepared.images, classes.split())
        order = generator("stages", "", 0, "images").permutation(len(whole.test))
        tested = np.sort(whole.test[order[:40]])
        task = sample_task(whole, 8, generator("linear_probe", "", start, "samples"))
        for name, state in (("probe_start", data["start_state"][start]), ("probe", data["state"][run])):
            assert found[name].values[run] == accuracy(state.values, task, tested, prepared)
