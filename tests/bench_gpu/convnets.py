"""ResNets on digits, trained together as finetuning jobs train them; steps alone, without the choice of images."""

import numpy as np
import torch
from _times import row

from carryover.networks.convnet import NETWORKS
from carryover.tasks.images import images
from carryover.training.convnet_ensemble import ConvnetEnsemble

TOGETHER, WIDTH, STEPS = 16, 8, 2
SETTINGS = (16, 128)  # images of each network in a step


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
        ensemble = ConvnetEnsemble(made, (slice(0, digits.classes),), device=device)

        def steps():
            for _ in range(STEPS):
                losses = ensemble.step([pixels], [labels], 0.01)
            losses.cpu()
            return TOGETHER * STEPS

        return steps

    return prepare


def measure(device):
    return [
        row(f"{TOGETHER} ResNet-18 together, width {WIDTH}, {count} digits a step", training(count), device,
            "network-step")
        for count in SETTINGS
    ]  # fmt: skip
