"""Convolutional networks trained together against PyTorch's loop over one at a time; on a GPU, images per second.

All on one thread. What is compared takes turns, so that other work on the machine hits all of it.
"""

import time

import torch
from torch.nn import functional as F

from carryover.networks.efficientnet import NETWORKS
from carryover.training.convnet_ensemble import ConvnetEnsemble

ROUNDS = 5
# Network, width, pixels, networks together, images of each in a step, times faster: calls cost more than arithmetic
# while batches are small. Those of 28 and 14 pixels are what Fashion-MNIST is trained with, that of 64 what
# EfficientNet-Lite0 is finetuned with.
SETTINGS = (
    ("resnet18", 8, 8, 16, 4, 2.5), ("resnet18", 8, 8, 16, 16, 2.0), ("resnet18", 8, 8, 16, 128, 0.8),
    ("resnet18", 8, 28, 1, 128, 0.8), ("resnet18", 8, 28, 16, 4, 1.0), ("resnet18", 8, 28, 16, 16, 0.8),
    ("vgg5", 16, 28, 1, 128, 0.8), ("vgg5", 16, 28, 16, 16, 0.8), ("vgg11", 8, 14, 4, 16, 0.8),
    ("efficientnet_lite0", 64, 64, 1, 64, 1.2),
)  # fmt: skip
BATCH, WARM, STEPS = 512, 5, 30  # of pretraining on a GPU, at CIFAR's shape


def ensemble_of(made, classes, channels, pixels, **options):
    states = [network.state_dict() for network in made]
    return ConvnetEnsemble(made[0], states, (slice(0, classes),), (channels, pixels, pixels), **options)


def networks(count, kind, width, channels, classes):
    stem = "small" if "small" in NETWORKS[kind].SMALLEST else "imagenet"
    rngs = [torch.Generator().manual_seed(seed) for seed in range(count)]
    return [NETWORKS[kind](rng, classes, width, stem, channels) for rng in rngs]


def plain_step(network, optimiser, images, labels):
    optimiser.zero_grad()
    F.cross_entropy(network(images), labels).backward()
    optimiser.step()


def seconds(function):
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def together(kind, width, pixels, size, count, at_least):
    """Images a second in steps of all networks, one at a time and together."""
    rng = torch.Generator().manual_seed(0)
    channels = 3 if kind == "efficientnet_lite0" else 1
    images = torch.randn(size, count, channels, pixels, pixels, generator=rng)
    labels = torch.randint(2, (size, count), generator=rng)
    alone = networks(size, kind, width, channels, 2)
    ensemble = ensemble_of(networks(size, kind, width, channels, 2), 2, channels, pixels)
    kept = [torch.randint(2, (size, count, units), generator=rng) * 2.0 for units in ensemble.units_dropped]
    optimisers = [torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9) for network in alone]

    def one_by_one():
        for run, (network, optimiser) in enumerate(zip(alone, optimisers, strict=True)):
            plain_step(network, optimiser, images[run], labels[run])

    def side_by_side():
        ensemble.step([images], [labels], 0.01, kept)

    times = [(seconds(one_by_one), seconds(side_by_side)) for _ in range(ROUNDS)]
    loop, ours = (min(column) for column in zip(*times[1:], strict=True))
    detail = f"{size * count / ours:.0f} images a second, {size * count / loop:.0f} one network at a time"
    name = f"{size} {kind} together, width {width}, {count} images of {pixels} × {pixels}"
    return {"name": name, "ratio": loop / ours, "at_least": at_least, "detail": detail}


def matrix_rate(dtype):
    """Operations a second of the card's own matrix product."""
    a = torch.randn(8192, 8192, device="cuda", dtype=dtype)
    for _ in range(3):
        a @ a
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(10):
        a @ a
    torch.cuda.synchronize()
    return 10 * 2 * 8192**3 / (time.perf_counter() - began)


def pretraining_on_a_gpu():
    """Steps of pretraining on images that are on the card, so that their preparation does not count."""
    made = networks(1, "resnet18", 64, 3, 100)
    ensemble = ensemble_of(made, 100, 3, 32, precision="bfloat16", weight_decay=5e-4, device="cuda")
    images, labels = torch.randn(1, BATCH, 3, 32, 32, device="cuda"), torch.randint(100, (1, BATCH), device="cuda")
    for _ in range(WARM):
        ensemble.step([images], [labels], 0.01)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(STEPS):
        ensemble.step([images], [labels], 0.01)
    torch.cuda.synchronize()
    rate = STEPS * BATCH / (time.perf_counter() - began)
    operations = 3 * 2 * 0.556e9 * rate  # multiplications and additions of one forward pass, three times with gradients
    share = operations / matrix_rate(torch.bfloat16)
    detail = f"{rate:.0f} images a second, {share:.0%} of the card's rate of matrix products"
    return {
        "name": "pretraining ResNet-18, 32 × 32, bfloat16, share",
        "ratio": share,
        "at_least": 0.1,
        "detail": detail,
    }


def measure(smallest=False):
    for setting in SETTINGS[:1] if smallest else SETTINGS:
        yield together(*setting)
    if torch.cuda.is_available() and not smallest:
        yield pretraining_on_a_gpu()
