"""Convolutional networks trained together against PyTorch's loop over one at a time.

Both take turns, so that other work on the machine hits both. `bench_gpu` measures a GPU.
"""

import torch
from _plain import best_in_turns, row
from torch.nn import functional as F

from carryover.networks.convnet import NETWORKS
from carryover.training.convnet_ensemble import ConvnetEnsemble

# Network, width, pixels, networks together, images of each in a step, times faster: calls cost more than arithmetic
# while batches are small. Those of 28 and 14 pixels are what Fashion-MNIST is trained with, that of 64 what
# EfficientNet-Lite0 is finetuned with.
SETTINGS = (
    ("resnet18", 8, 8, 16, 4, 2.5), ("resnet18", 8, 8, 16, 16, 2.0), ("resnet18", 8, 8, 16, 128, 0.8),
    ("resnet18", 8, 28, 1, 128, 0.8), ("resnet18", 8, 28, 16, 4, 1.0), ("resnet18", 8, 28, 16, 16, 0.8),
    ("vgg5", 16, 28, 1, 128, 0.8), ("vgg5", 16, 28, 16, 16, 0.8), ("vgg11", 8, 14, 4, 16, 0.8),
    ("efficientnet_lite0", 64, 64, 1, 64, 1.2),
)  # fmt: skip


def compare(kind, width, pixels, size, count, at_least):
    """Images a second in steps of all networks, one at a time and together."""
    rng = torch.Generator().manual_seed(0)
    channels = 3 if kind == "efficientnet_lite0" else 1
    stem = "small" if "small" in NETWORKS[kind].SMALLEST else "imagenet"
    images = torch.randn(size, count, channels, pixels, pixels, generator=rng)
    labels = torch.randint(2, (size, count), generator=rng)
    alone, made = (
        [NETWORKS[kind](torch.Generator().manual_seed(seed), 2, width, stem, channels) for seed in range(size)]
        for _ in range(2)
    )
    states = [network.state_dict() for network in made]
    ensemble = ConvnetEnsemble(made[0], states, (slice(0, 2),), (channels, pixels, pixels))
    dropout = [torch.randint(2, (size, count, units), generator=rng) * 2.0 for units in ensemble.units_dropped]
    optimisers = [torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9) for network in alone]

    def one_by_one():
        for run, (network, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            optimiser.zero_grad()
            F.cross_entropy(network(images[run]), labels[run]).backward()
            optimiser.step()

    def together():
        ensemble.step([images], [labels], 0.01, dropout)

    best_in_turns(1, one_by_one, together)  # warms up
    loop, ours = best_in_turns(4, one_by_one, together)
    detail = f"{size * count / ours:.0f} images a second, {size * count / loop:.0f} one network at a time"
    name = f"{size} {kind} together, width {width}, {count} images of {pixels} × {pixels}"
    return row(name, loop / ours, at_least, detail)


def measure(smallest=False):
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield compare(*setting)
