"""Small convolutional networks, images and tasks, and training as anyone would write it."""

import numpy as np
import torch
from torch.nn import functional as F

from carryover.networks.convnet import NETWORKS
from carryover.streams import generator
from carryover.tasks.image_tasks import ClassTask, PreparedImages
from carryover.tasks.images import ImageSet


def network(kind="resnet18", seed=0, classes=3):
    return NETWORKS[kind](torch.Generator().manual_seed(seed), classes, 2, "small", 1)


def prepared(count=60, **options):
    """Images that differ by class in their mean, with noise."""
    rng = np.random.default_rng(5)
    labels = np.arange(count) % 3
    pixels = (rng.normal(size=(count, 1, 8, 8)) + labels[:, None, None, None]).astype(np.float32)
    return PreparedImages(ImageSet(pixels, labels, pixels[:30], labels[:30], 3), **options)


def task(images, runs, count):
    """The first images for run 0, the next for run 1, …"""
    indices, tests = [np.arange(run * 3, run * 3 + count) for run in range(runs)], np.arange(30)
    return [ClassTask((0, 1, 2), own, images.images.train_labels[own], tests, tests % 3) for own in indices]


def draws(run, use, number):
    return generator("toy", {"run": int(run), "number": number}, 0, use)


def plain_loop(network, batches, rates, momentum=0.9, weight_decay=0.0):
    """Losses of PyTorch's own loop over batches (images, labels)."""
    optimiser = torch.optim.SGD(network.parameters(), lr=1.0, momentum=momentum, weight_decay=weight_decay)
    network.train()
    losses = []
    for (images, labels), rate in zip(batches, rates, strict=True):
        optimiser.param_groups[0]["lr"] = rate
        optimiser.zero_grad()
        loss = F.cross_entropy(network(images), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses
