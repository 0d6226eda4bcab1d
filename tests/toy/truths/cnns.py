"""Convolutional layers that are not trained, changed in ways that leave no doubt."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from toy.truths.case import ADD, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases
from toy.truths.weights import SAMPLES, Rng, built, digits, normal, orthogonal, recorded


def cnn() -> nn.Sequential:
    """For digits of 8 × 8 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def images() -> torch.Tensor:
    return torch.from_numpy(digits()).reshape(-1, 1, 8, 8)


def cnn_again(depth: int):
    def make(rng: Rng) -> Recordings:
        return recorded(*(built(rng, cnn)[:depth](images()) for _ in range(3)))

    return make


def permuted_channels(rng: Rng) -> Recordings:
    """The third convolution's channels in another order, and all half as large."""
    before, other = (built(rng, cnn)[:6](images()) for _ in range(2))
    return recorded(before, 0.5 * before[:, rng.permutation(32)], other)


def patterns(rng: Rng, channels: int, count: int = SAMPLES) -> torch.Tensor:
    """Images (count, channels, 8, 8): each channel is three smooth patterns, with uncorrelated strengths of its own."""
    cosines = torch.cos(torch.pi * torch.outer(torch.arange(2), torch.arange(8)) / 8)
    waves = torch.einsum("ah,bw->abhw", cosines, cosines).flatten(0, 1)[1:]
    strengths = count**0.5 * orthogonal(rng, 3 * channels, count).T
    return torch.einsum("ncp,phw->nchw", strengths.reshape(count, channels, 3), waves)


def own_mixtures(change, channels=10, new=0):
    """A convolution of images of 24 channels; each channel averages, with weights of its own, a mixture of them that is
    at right angles to the others, and is averaged over quarters of the image after the ReLU.

    change: of the responses (samples, channels, …) after finetuning. new: channels that are seen after it alone.
    """

    def make(rng: Rng) -> Recordings:
        X = patterns(rng, 24)

        def see(count):
            averages = normal(rng, count, 9).softmax(1).reshape(count, 1, 3, 3)
            kernels = orthogonal(rng, count, 24)[:, :, None, None] * averages
            return F.avg_pool2d(F.relu(F.conv2d(X, kernels, padding=1)), 4)

        after = see(channels + new)
        return recorded(after[:, :channels], change(after.clone()), see(channels))

    return make


def prune_channels(responses):
    responses[:, 3:] = 0
    return responses


def raise_half(responses):
    responses[:, :5] *= 4
    return responses


CASES = cases(
    "cnn",
    [  # name, truth, why, how it is made
        *(
            ("CNN on digits re-initialised, " + name, REPLACE, "weights drawn anew", cnn_again(depth))
            for name, depth in (("first layer", 2), ("second layer", 4), ("third layer", 6))
        ),
        (
            "CNN on digits, channels permuted and halved",
            UNCHANGED,
            "units in another order times one number",
            permuted_channels,
        ),
        (
            "CNN, 7 of 10 channels pruned",
            SELECT,
            "channels see mixtures of image channels that are independent",
            own_mixtures(prune_channels),
        ),
        (
            "CNN, half of the channels times 4",
            REWEIGHT,
            "variances of five independent channels times 16",
            own_mixtures(raise_half),
        ),
        (
            "CNN, channels of other mixtures beside",
            ADD,
            "10 channels come beside 10, and see independent mixtures",
            own_mixtures(lambda responses: responses, new=10),
        ),
    ],
)
