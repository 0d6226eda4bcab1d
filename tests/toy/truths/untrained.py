"""Layers of networks that are not trained, changed in ways that leave no doubt."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from toy.truths.case import ADD, NONE, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases
from toy.truths.weights import SAMPLES, Rng, built, digits, low_rank, normal, orthogonal, recorded, three


def pixels(rng: Rng | None = None) -> torch.Tensor:
    return torch.from_numpy(digits())


def images(rng: Rng | None = None) -> torch.Tensor:
    return pixels().reshape(-1, 1, 8, 8)


def token_ids(rng: Rng) -> torch.Tensor:
    return torch.from_numpy(rng.integers(16, size=(SAMPLES, 8)))


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))


def cnn() -> nn.Sequential:
    """For digits of 8 × 8 pixels."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip


def transformer() -> nn.Sequential:
    """Token ids (samples, 8) of 16 kinds to (samples, 8, 32): an embedding and two blocks."""
    block = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)]
    return nn.Sequential(nn.Embedding(16, 32), *block)


def redrawn(build, depth: int, inputs, of=lambda responses: responses):
    """The first parts of a network with weights drawn anew; of: what is recorded of their responses."""

    def make(rng: Rng) -> Recordings:
        X = inputs(rng)
        return recorded(*(of(built(rng, build)[:depth](X)) for _ in range(3)))

    return make


# Fully connected layers.


def random_layers(scale):
    """Three random ReLU layers of 512 units on Gaussian inputs of 20 dimensions, of standard deviations `scale`."""

    def make(rng: Rng) -> Recordings:
        X = normal(rng, SAMPLES, 20) * torch.as_tensor(scale, dtype=torch.float32)
        return recorded(*(F.relu(X @ normal(rng, 20, 512)) for _ in range(3)))

    return make


def distinct_units(change):
    """A ReLU layer of 40 units at right angles of Gaussian inputs of 60 dimensions: its responses are independent."""

    def make(rng: Rng) -> Recordings:
        X = normal(rng, SAMPLES, 60)
        return three(
            rng, lambda rng: orthogonal(rng, 40, 60), lambda W: F.relu(X @ W.T), lambda rng, W: change(W.clone())
        )

    return make


def prune_units(W):
    W[:28] = 0
    return W


def triple_half(W):
    W[: len(W) // 2] *= 3
    return W


def mlp_lora(rng: Rng) -> Recordings:
    inputs = F.relu(pixels() @ normal(rng, 64, 128) / 8)

    def see(W):
        return F.relu(inputs @ W.T)

    return three(rng, lambda rng: normal(rng, 64, 128) / 8, see, lambda rng, W: low_rank(rng, W, see))


def other_inputs(new: int, act):
    """20 units of some inputs, then `new` of other inputs beside them, in directions of their own."""

    def make(rng: Rng) -> Recordings:
        X, Z = normal(rng, SAMPLES, 24), normal(rng, SAMPLES, 24)
        frame = orthogonal(rng, 20 + new, 64)
        W, other, beside = (orthogonal(rng, count, 24) for count in (20, 20, new))
        old, unrelated, added = act(X @ W.T), act(X @ other.T), act(Z @ beside.T)
        return recorded(old @ frame[:20], torch.hstack([old, added]) @ frame, unrelated @ frame[:20])

    return make


# Convolutional layers.


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


# Transformers.


def transformer_lora(rng: Rng) -> Recordings:
    """An update of the first block's weights of the values, seen behind the second block."""
    ids = token_ids(rng)
    network, other = built(rng, transformer), built(rng, transformer)
    before = network(ids).mean(1)
    weight = network[1].self_attn.in_proj_weight

    def see(values):
        weight.data[64:] = values
        return network(ids).mean(1).detach()

    values = low_rank(rng, weight.data[64:].clone(), see)
    return recorded(before, see(values), other(ids).mean(1))


def heads(rng: Rng, X: torch.Tensor, kept=4) -> torch.Tensor:
    """(samples, 32): a class token's attention over tokens X (samples, tokens, 32) by four heads whose values see
    dimensions of their own; heads from `kept` on are silent."""
    values = orthogonal(rng, 32, 32).reshape(4, 8, 32)
    scores = torch.einsum("hd,ntd->nht", normal(rng, 4, 32) / 32**0.5, X).softmax(-1)
    out = torch.einsum("nht,ntd,hvd->nhv", scores, X, values)
    out[:, kept:] = 0
    return out.flatten(1)


def attention(change):
    """change: (how the layer's features (samples, 32) are had after finetuning) of (rng of its weights, tokens)."""

    def make(rng: Rng) -> Recordings:
        X, seed, other = normal(rng, SAMPLES, 8, 32), *map(int, rng.integers(2**31, size=2))
        before, unrelated = (heads(np.random.default_rng(one), X) for one in (seed, other))
        return recorded(before, change(np.random.default_rng(seed), X), unrelated)

    return make


def more_heads(rng: Rng, X: torch.Tensor) -> torch.Tensor:
    return torch.hstack([heads(rng, X), heads(rng, normal(rng, *X.shape))])


def gains(rng: Rng, X: torch.Tensor) -> torch.Tensor:
    return heads(rng, X) * torch.tensor([3.0, 1.0]).repeat(16)


ANEW, SMALL = "weights drawn anew", "responses change by 2 % of their standard deviation"


def mean_token(responses: torch.Tensor) -> torch.Tensor:
    return responses.mean(1)


# name, truth, why, how it is made
MLPS = [
    ("random ReLU layers, isotropic inputs", REPLACE, ANEW, random_layers(1.0)),
    ("random ReLU layers, 1/k² inputs", REPLACE, ANEW, random_layers(1 / np.arange(1, 21))),
    ("MLP on digits re-initialised, first layer", REPLACE, ANEW, redrawn(mlp, 2, pixels)),
    ("MLP on digits re-initialised, second layer", REPLACE, ANEW, redrawn(mlp, 4, pixels)),
    ("MLP on digits re-initialised, readout of one unit", NONE, "one unit has one dimension whatever happens",
     redrawn(mlp, 5, pixels)),
    ("MLP, 28 of 40 units pruned", SELECT, "units at right angles on isotropic inputs are independent",
     distinct_units(prune_units)),
    ("MLP, half of the units times 3", REWEIGHT, "variances of 20 of 40 independent units times 9",
     distinct_units(triple_half)),
    ("MLP on digits, LoRA of rank 2", UNCHANGED, SMALL, mlp_lora),
    ("MLP, width doubled with units of other inputs", ADD, "20 units of independent inputs come beside 20",
     other_inputs(20, F.relu)),
    ("linear layer, block of new features of rank 12", ADD, "12 of 32 dimensions see independent inputs",
     other_inputs(12, lambda x: x)),
]  # fmt: skip
CNNS = [
    ("CNN on digits re-initialised, first layer", REPLACE, ANEW, redrawn(cnn, 2, images)),
    ("CNN on digits re-initialised, second layer", REPLACE, ANEW, redrawn(cnn, 4, images)),
    ("CNN on digits re-initialised, third layer", REPLACE, ANEW, redrawn(cnn, 6, images)),
    ("CNN on digits, channels permuted and halved", UNCHANGED, "units in another order times one number",
     permuted_channels),
    ("CNN, 7 of 10 channels pruned", SELECT, "channels see mixtures of image channels that are independent",
     own_mixtures(prune_channels)),
    ("CNN, half of the channels times 4", REWEIGHT, "variances of five independent channels times 16",
     own_mixtures(raise_half)),
    ("CNN, channels of other mixtures beside", ADD, "10 channels come beside 10, and see independent mixtures",
     own_mixtures(lambda responses: responses, new=10)),
]  # fmt: skip
TRANSFORMERS = [
    ("transformer re-initialised, first block", REPLACE, ANEW, redrawn(transformer, 2, token_ids, mean_token)),
    ("transformer re-initialised, second block", REPLACE, ANEW, redrawn(transformer, 3, token_ids, mean_token)),
    ("transformer, LoRA of rank 2", UNCHANGED, SMALL, transformer_lora),
    ("transformer, 3 of 4 heads pruned", SELECT, "heads see dimensions of their own of isotropic tokens",
     attention(lambda rng, X: heads(rng, X, kept=1))),
    ("transformer, heads of other tokens", ADD, "four heads of independent tokens come beside four",
     attention(more_heads)),
    ("transformer, gains of half of the units times 3", REWEIGHT, "variances of 16 of 32 dimensions times 9",
     attention(gains)),
]  # fmt: skip
CASES = [*cases("mlp", MLPS), *cases("cnn", CNNS), *cases("transformer", TRANSFORMERS)]
