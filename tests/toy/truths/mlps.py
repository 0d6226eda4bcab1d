"""Fully connected layers that are not trained, changed in ways that leave no doubt."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from toy.truths.case import ADD, NONE, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases
from toy.truths.weights import SAMPLES, Rng, built, digits, low_rank, normal, orthogonal, recorded, three


def random_layers(scale):
    """Three random ReLU layers of 512 units on Gaussian inputs of 20 dimensions, of standard deviations `scale`."""

    def make(rng: Rng) -> Recordings:
        X = normal(rng, SAMPLES, 20) * torch.as_tensor(scale, dtype=torch.float32)
        return recorded(*(F.relu(X @ normal(rng, 20, 512)) for _ in range(3)))

    return make


def mlp() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))


def mlp_again(depth: int):
    def make(rng: Rng) -> Recordings:
        X = torch.from_numpy(digits())
        return recorded(*(built(rng, mlp)[:depth](X) for _ in range(3)))

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
    X = torch.from_numpy(digits())
    inputs = F.relu(X @ normal(rng, 64, 128) / 8)

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


def mlp_readout(rng: Rng) -> Recordings:
    X = torch.from_numpy(digits())
    return recorded(*(built(rng, mlp)(X) for _ in range(3)))


CASES = cases(
    "mlp",
    [  # name, truth, why, how it is made
        ("random ReLU layers, isotropic inputs", REPLACE, "weights drawn anew", random_layers(1.0)),
        ("random ReLU layers, 1/k² inputs", REPLACE, "weights drawn anew", random_layers(1 / np.arange(1, 21))),
        ("MLP on digits re-initialised, first layer", REPLACE, "weights drawn anew", mlp_again(2)),
        ("MLP on digits re-initialised, second layer", REPLACE, "weights drawn anew", mlp_again(4)),
        (
            "MLP on digits re-initialised, readout of one unit",
            NONE,
            "one unit has one dimension whatever happens",
            mlp_readout,
        ),
        (
            "MLP, 28 of 40 units pruned",
            SELECT,
            "units at right angles on isotropic inputs are independent",
            distinct_units(prune_units),
        ),
        (
            "MLP, half of the units times 3",
            REWEIGHT,
            "variances of 20 of 40 independent units times 9",
            distinct_units(triple_half),
        ),
        ("MLP on digits, LoRA of rank 2", UNCHANGED, "responses change by 2 % of their standard deviation", mlp_lora),
        (
            "MLP, width doubled with units of other inputs",
            ADD,
            "20 units of independent inputs come beside 20",
            other_inputs(20, F.relu),
        ),
        (
            "linear layer, block of new features of rank 12",
            ADD,
            "12 of 32 dimensions see independent inputs",
            other_inputs(12, lambda x: x),
        ),
    ],
)
