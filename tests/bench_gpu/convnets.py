"""ResNets trained as jobs train them: small ones together, by their steps alone, and one with all that feeds it; and
the share of a card's rate that one reaches."""

from functools import partial

import numpy as np
import torch
from _times import fastest, row

from carryover.networks.convnet import NETWORKS
from carryover.streams import generator
from carryover.tasks.image_tasks import ClassTask, PreparedImages
from carryover.tasks.images import ImageSet, images
from carryover.training.convnet import Problem, gradient_descent
from carryover.training.convnet_ensemble import ConvnetEnsemble

TOGETHER, WIDTH, STEPS = 16, 8, 2
SETTINGS = (16, 128)  # images of each network in a step
CLASSES, PIXELS = 10, 224
FED = {"cuda": (2048, 128, "bfloat16"), "cpu": (8, 4, "float32")}  # images, of which in a step, and what is fast there


def training(count):
    """By device, what takes steps with the first digits there."""
    digits = images("digits")
    pixels = torch.from_numpy(np.stack([digits.train[:count]] * TOGETHER))
    labels = torch.from_numpy(np.stack([digits.train_labels[:count]] * TOGETHER))

    def prepare(device):
        made = [
            NETWORKS["resnet18"](torch.Generator().manual_seed(seed), digits.classes, WIDTH, "small", 1)
            for seed in range(TOGETHER)
        ]
        states, shape = [network.state_dict() for network in made], pixels.shape[2:]
        ensemble = ConvnetEnsemble(made[0], states, (slice(0, digits.classes),), shape, device=device)

        def steps():
            for _ in range(STEPS):
                losses = ensemble.step([pixels], [labels], 0.01)
            losses.cpu()
            return TOGETHER * STEPS

        return steps

    return prepare


def epoch(pixels_wide, device):
    """What takes images of 32 × 32 once, cuts, mirrors and enlarges them, and trains a network that is evaluated."""
    count, batch, precision = FED[device]
    pixels = np.random.default_rng(0).integers(256, size=(count, 3, 32, 32), dtype=np.uint8)
    labels = np.arange(count) % CLASSES
    prepared = PreparedImages(ImageSet(pixels, labels, pixels, labels, CLASSES), pixels_wide, crop=4, flip=True)
    tests = np.arange(count // 8)
    task = ClassTask(tuple(range(CLASSES)), np.arange(count), labels, tests, labels[tests])
    network = NETWORKS["resnet18"](torch.Generator().manual_seed(0), CLASSES)

    def train():
        posed = Problem(
            network, lambda run: network.state_dict(), [[task]], prepared,
            lambda run, use, number: generator("benchmark", {"number": number}, run, use),
        )  # fmt: skip
        gradient_descent(posed, learning_rate=0.01, batch_size=batch, max_epochs=1, precision=precision, device=device)
        return count

    return train


def share_of_a_card():
    """A row on steps of pretraining with images that are on the card: share of the rate of its own matrix products."""
    batch, steps, size = 512, 30, 8192
    network = NETWORKS["resnet18"](torch.Generator().manual_seed(0), 100)
    fast = {"precision": "bfloat16", "weight_decay": 5e-4, "device": "cuda"}
    ensemble = ConvnetEnsemble(network, [network.state_dict()], (slice(0, 100),), (3, 32, 32), **fast)
    images, labels = torch.randn(1, batch, 3, 32, 32, device="cuda"), torch.randint(100, (1, batch), device="cuda")
    matrix = torch.randn(size, size, device="cuda", dtype=torch.bfloat16)

    def train():
        for _ in range(steps):
            losses = ensemble.step([images], [labels], 0.01)
        losses.cpu()
        return steps * batch

    def multiply():
        for _ in range(10):
            product = matrix @ matrix
        product[0, 0].cpu()
        return 10 * 2 * size**3

    rate = 1 / fastest(train)
    # Multiplications and additions of one forward pass of 32 × 32 pixels, three times with gradients.
    share = 3 * 2 * 0.556e9 * rate * fastest(multiply)
    detail = f"{rate:.0f} images a second, {share:.0%} of the card's rate of matrix products"
    return {
        "name": "pretraining ResNet-18, 32 × 32, bfloat16, share",
        "ratio": share,
        "at_least": 0.1,
        "detail": detail,
    }


def measure(device, smallest=False):
    for count in (2,) if smallest else SETTINGS:
        name = f"{TOGETHER} ResNet-18 together, width {WIDTH}, {count} digits a step"
        yield row(name, training(count), device, "network-step")
    pixels = 32 if smallest else PIXELS
    yield row(f"a ResNet-18, fed with images enlarged to {pixels} pixels", partial(epoch, pixels), device, "image")
    if device == "cuda" and not smallest:
        yield share_of_a_card()
