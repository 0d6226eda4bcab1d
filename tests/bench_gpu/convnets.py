"""ResNets trained as jobs train them: small ones together, by their steps alone, and one with all that feeds it."""

from functools import partial

import numpy as np
import torch
from _times import row

from carryover.networks.efficientnet import NETWORKS
from carryover.streams import generator
from carryover.tasks.images import ImageSet, images
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.convnet import Samples, gradient_descent
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
    tests = np.arange(count // 8), labels[: count // 8]
    prepared = PreparedImages(ImageSet(pixels, labels, pixels, labels, CLASSES), pixels_wide, crop=4, flip=True)
    task = Samples(np.arange(count)[None], labels[None], slice(0, CLASSES))
    network = NETWORKS["resnet18"](torch.Generator().manual_seed(0), CLASSES)

    def train():
        gradient_descent(
            network, [network.state_dict()], [task], [tests], prepared,
            lambda run, use, number: generator("benchmark", {"number": number}, run, use),
            learning_rate=0.01, batch_size=batch, max_epochs=1, precision=precision, device=device,
        )  # fmt: skip
        return count

    return train


def measure(device, smallest=False):
    for count in (2,) if smallest else SETTINGS:
        name = f"{TOGETHER} ResNet-18 together, width {WIDTH}, {count} digits a step"
        yield row(name, training(count), device, "network-step")
    pixels = 32 if smallest else PIXELS
    yield row(f"a ResNet-18, fed with images enlarged to {pixels} pixels", partial(epoch, pixels), device, "image")
