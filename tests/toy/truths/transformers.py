"""Layers of transformers that are not trained, changed in ways that leave no doubt."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from toy.truths.case import ADD, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases
from toy.truths.weights import SAMPLES, Rng, built, low_rank, normal, orthogonal, recorded


def transformer() -> nn.Sequential:
    """Token ids (samples, 8) of 16 kinds to (samples, 8, 32): an embedding and two blocks."""
    block = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)]
    return nn.Sequential(nn.Embedding(16, 32), *block)


def token_ids(rng: Rng) -> torch.Tensor:
    return torch.from_numpy(rng.integers(16, size=(SAMPLES, 8)))


def transformer_again(depth: int):
    def make(rng: Rng) -> Recordings:
        ids = token_ids(rng)
        return recorded(*(built(rng, transformer)[: 1 + depth](ids).mean(1) for _ in range(3)))

    return make


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
        return recorded(
            heads(np.random.default_rng(seed), X), change(np.random.default_rng(seed), X),
            heads(np.random.default_rng(other), X),
        )  # fmt: skip

    return make


def more_heads(rng: Rng, X: torch.Tensor) -> torch.Tensor:
    return torch.hstack([heads(rng, X), heads(rng, normal(rng, *X.shape))])


def gains(rng: Rng, X: torch.Tensor) -> torch.Tensor:
    return heads(rng, X) * torch.tensor([3.0, 1.0]).repeat(16)


CASES = cases(
    "transformer",
    [  # name, truth, why, how it is made
        *(
            (f"transformer re-initialised, {name} block", REPLACE, "weights drawn anew", transformer_again(depth))
            for name, depth in (("first", 1), ("second", 2))
        ),
        (
            "transformer, LoRA of rank 2",
            UNCHANGED,
            "responses change by 2 % of their standard deviation",
            transformer_lora,
        ),
        (
            "transformer, 3 of 4 heads pruned",
            SELECT,
            "heads see dimensions of their own of isotropic tokens",
            attention(lambda rng, X: heads(rng, X, kept=1)),
        ),
        (
            "transformer, heads of other tokens",
            ADD,
            "four heads of independent tokens come beside four",
            attention(more_heads),
        ),
        (
            "transformer, gains of half of the units times 3",
            REWEIGHT,
            "variances of 16 of 32 dimensions times 9",
            attention(gains),
        ),
    ],
)
