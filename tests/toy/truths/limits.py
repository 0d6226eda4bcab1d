"""Layers whose change a practitioner would call by another word than the definitions do, so that a warning must say it.

The truth is by definition; `WARNED` says which words the warning must contain. Repeated samples have names.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from toy.truths.case import ADD, REPLACE, SELECT, UNCHANGED, Recordings, cases
from toy.truths.made import HARMONIC, SAMPLES, Rng, gaussian, heavy, seen, sparse
from toy.truths.weights import built, normal, recorded

WIDE = 3000  # samples of layers with many weak features


def pair(make):
    """`make` gives features before and after, and unrelated ones, each seen in directions of its own."""
    return lambda rng: Recordings(*(seen(rng, values, noise=0.005) for values in make(rng)))


def appears(draw, scale, strength):
    """All features stay, and a new one has `strength` times their total standard deviation."""

    def make(rng):
        old, new, other = draw(rng) * scale, draw(rng, 1), draw(rng) * scale
        return old, np.hstack([old, strength * np.sqrt(old.var(axis=0).sum()) * new]), other

    return make


def reverse(make):
    def made(rng):
        before, after, other = make(rng)
        return after, before, other

    return made


def amplified(draw, scale, count, factor):
    def make(rng):
        old, by = draw(rng) * scale, np.ones(20)
        by[:count] = factor**0.5
        return old, old * by, draw(rng) * scale

    return make


def weak_redrawn(strong, weak, size):
    """`strong` features hold all but 4 % of the variance, and the weak ones, most of them, are drawn anew."""

    def make(rng: Rng):
        scale = np.r_[np.full(strong, (0.96 / strong) ** 0.5), np.full(weak, (0.04 / weak) ** 0.5)] * size
        old, new, other = (rng.standard_normal((WIDE, strong + weak)) * scale for _ in range(3))
        after = np.hstack([old[:, :strong], new[:, strong:]])
        return Recordings(*(seen(rng, values, noise=0.001, units=150) for values in (old, after, other)))

    return make


def superposed(before: int, after: int, count: int = 40):
    """Sparse features in random directions of fewer units than there are features, or in units of their own."""

    def make(rng: Rng) -> Recordings:
        features, other = sparse(rng, count), sparse(rng, count)

        def packed(values, units):
            if units >= count:
                return values.astype(np.float32)
            frame = rng.standard_normal((count, units))
            return (values @ (frame / np.linalg.norm(frame, axis=1, keepdims=True))).astype(np.float32)

        return Recordings(packed(features, before), packed(features, after), packed(other, before))

    return make


def faded(draw, kept):
    def make(rng):
        old = draw(rng)
        return old, old * np.r_[np.ones(kept), np.full(20 - kept, 0.02)], draw(rng)

    return make


def collapsed(draw, classes):
    """Features collapse to means of classes that were no linear functions of them, as at the end of training."""

    def make(rng):
        old = draw(rng)
        means = np.eye(classes)[rng.integers(classes, size=SAMPLES)]
        return old, np.hstack([4 * means, 0.02 * old]), draw(rng)

    return make


class Attention(nn.Module):
    """The mean of one head's output, whose queries and keys say what it attends to."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(16, 16, bias=False) for _ in range(3))

    def forward(self, tokens):
        scores = self.query(tokens[:, :1]) @ self.key(tokens).transpose(1, 2)
        return ((4 * scores).softmax(-1) @ self.value(tokens))[:, 0]


def attention_only(rng: Rng) -> Recordings:
    """Queries and keys are drawn anew: the head reads other tokens, by the same values."""
    tokens, network, other = 2 * normal(rng, SAMPLES, 6, 16), built(rng, Attention), built(rng, Attention)
    before = network(tokens)
    network.query.weight.data, network.key.weight.data = normal(rng, 16, 16) / 4, normal(rng, 16, 16) / 4
    return recorded(before, network(tokens), other(tokens))


def normalised(rng: Rng) -> Recordings:
    """Statistics of batch normalisation alone are re-estimated on inputs of another mean and scale."""

    def build():
        net = nn.Sequential(nn.Linear(20, 60), nn.BatchNorm1d(60), nn.ReLU())
        with torch.no_grad():
            net[1].train()(net[0](torch.randn(2000, 20)))
            net[1].momentum = None
            net[1].reset_running_stats()
            net[1](net[0](torch.randn(2000, 20)))
        return net

    inputs, network, other = normal(rng, SAMPLES, 20), built(rng, build), built(rng, build)
    before = network(inputs)
    network[1].reset_running_stats()
    with torch.no_grad():
        network[1].train()(network[0](1.05 * inputs))
    network.eval()
    return recorded(before, network(inputs), other(inputs))


def adapter(strength: float):
    """A low-rank adapter brings one new ReLU feature of a product of inputs, which is strong or weak."""

    def make(rng: Rng) -> Recordings:
        inputs, other = normal(rng, SAMPLES, 20), normal(rng, SAMPLES, 20)
        W, down, up = normal(rng, 20, 40) / 20**0.5, normal(rng, 20, 1), normal(rng, 1, 40)
        hidden = inputs @ W
        change = strength * torch.tanh(3 * (inputs @ down) * (inputs @ normal(rng, 20, 1))) @ up
        return recorded(hidden, hidden + change, other @ W)

    return make


def _made(kind: str, draw, scale=1.0):
    loud = np.r_[6.0, 6.0, np.ones(18)]
    return [
        (f"{kind}: a new feature takes half of the variance", UNCHANGED, "appeared", pair(appears(draw, scale, 1.0))),
        (f"{kind}: a new feature takes .99 of the variance", REPLACE, "appeared", pair(appears(draw, scale, 10.0))),
        (f"{kind}: a feature of half of the variance goes", UNCHANGED, "disappeared",
         pair(reverse(appears(draw, scale, 1.0)))),
        (f"{kind}: three features have 12 times the variance", UNCHANGED, "amplified",
         pair(amplified(draw, scale, 3, 12.0))),
        (f"{kind}: two loud features are damped", UNCHANGED, "damped", pair(amplified(draw, loud, 2, 1 / 36))),
        (f"{kind}: 14 of 20 fade to .0004 of the variance", SELECT, "faded", pair(faded(draw, 6))),
        (f"{kind}: features collapse to means of four classes", REPLACE, "faded", pair(collapsed(draw, 4))),
    ]  # fmt: skip


_TABLE = [
    *_made("normal", gaussian),
    *_made("heavy tails", heavy),
    *_made("sparse", sparse),
    ("variances 1/k: a new feature takes half of the variance", UNCHANGED, "appeared",
     pair(appears(gaussian, HARMONIC, 1.0))),
    ("variances 1/k: a new feature takes .99 of the variance", REPLACE, "appeared",
     pair(appears(gaussian, HARMONIC, 10.0))),
    ("88 of 100 features below the line are redrawn", UNCHANGED, "weak components", weak_redrawn(12, 88, 1.0)),
    ("60 of 80 features below the line are redrawn", UNCHANGED, "weak components", weak_redrawn(20, 60, 5.0)),
    ("40 superposed features are repacked", REPLACE, "superposed", superposed(20, 20)),
    ("40 superposed features are unpacked", ADD, "superposed", superposed(20, 40)),
    ("40 features are packed into 20 units", SELECT, "superposed", superposed(40, 20)),
    ("60 superposed features are repacked", REPLACE, "superposed",
     superposed(30, 30, 60)),
    ("a strong adapter of rank 1", UNCHANGED, "appeared", adapter(2.0)),
    ("a weak adapter of rank 1", UNCHANGED, "", adapter(0.05)),
    ("attention alone is drawn anew", REPLACE, "", attention_only),
    ("statistics of normalisation alone change little", UNCHANGED, "", normalised),
]  # fmt: skip

CASES = cases("limits", [(name, truth, warned, make) for name, truth, warned, make in _TABLE])
WARNED = {case.name: case.why for case in CASES}
