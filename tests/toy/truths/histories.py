"""Networks whose history is known: how they were trained, changed, mixed or drawn anew, and on what.

Networks learn products of pairs of inputs, of which networks that have learnt nothing hold little, or classes of
digits. Layers made by hand hold uncorrelated quadratic forms of Gaussian inputs. Samples are new unless a history says
so. Assertions check trainings without the diagnosis.
"""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from toy.truths.trained import Mean, fit
from toy.truths.weights import SAMPLES, Rng, built, digits, normal, orthogonal

# Targets of a training, as matrices by which the task's are multiplied: of products and of classes of digits.
LEARNT, NEW = torch.eye(8).split(4, 1)
SUMS = torch.tensor([[1.0, 0], [1, 0], [0, 1], [0, -1], [0, 0], [0, 0], [0, 0], [0, 0]])  # of products that were learnt
EVERY, PARITY = torch.eye(10), torch.tensor([1.0, -1.0]).repeat(5)[:, None]


class Net(nn.Module):
    """Two layers and a head: fully connected, of convolutions, or of a transformer."""

    def __init__(self, kind: str, size: int, out: int) -> None:
        super().__init__()
        if kind == "transformer":
            blocks = [nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True) for _ in range(2)]
            self.first, self.last = nn.Sequential(nn.Linear(size, 32), blocks[0]), nn.Sequential(blocks[1], Mean())
        elif kind == "cnn":
            how = (3, 2, 1) if size == 1 else (1,)
            self.first = nn.Sequential(nn.Conv2d(size, 32, *how), nn.ReLU())
            self.last = nn.Sequential(nn.Conv2d(32, 64, *how), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten())
        else:
            self.first = nn.Sequential(nn.Linear(size, 64), nn.ReLU())
            self.last = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(32 if kind == "transformer" else 64, out)

    def forward(self, x):
        return self.head(self.last(self.first(x)))


class Products:
    """Four products of 16 inputs that are learnt, and four of the same inputs that are not, averaged over four places
    or tokens where there are any."""

    steps, most, learnt = 300, 0.3, LEARNT  # most: error that training may leave, of the variance

    def __init__(self, kind: str, seed: int) -> None:
        self.kind, rng = kind, np.random.default_rng(seed)
        self.X, self.Y = self.new(rng)
        self.size = self.X.shape[-1 if kind == "transformer" else 1]
        net = built(rng, lambda: Net(kind, self.size, self.learnt.shape[1]))
        self.net = taught(rng, self, net, self.learnt, steps=self.steps, rate=0.01)

    def new(self, rng: Rng) -> tuple[torch.Tensor, torch.Tensor]:
        return self.batch(rng, SAMPLES)

    def batch(self, rng: Rng, count: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
        X = normal(rng, count, 1 if self.kind == "mlp" else 4, 16)
        Y = (X[..., [0, 2, 4, 6, 0, 1, 4, 5]] * X[..., [1, 3, 5, 7, 2, 3, 6, 7]]).mean(1) * X.shape[1] ** 0.5
        shape = {"mlp": (16,), "cnn": (16, 2, 2), "transformer": (4, 16)}[self.kind]
        return (X.transpose(1, 2) if self.kind == "cnn" else X).reshape(count, *shape), Y


class Digits(Products):
    """Ten classes of digits: 800 images are trained on, the others are new."""

    steps, most, learnt = 150, 0.5, EVERY

    def new(self, rng: Rng) -> tuple[torch.Tensor, torch.Tensor]:
        order = rng.permutation(len(digits()))
        images = torch.from_numpy(digits()[order]).reshape(-1, *{"mlp": (64,), "cnn": (1, 8, 8)}[self.kind])
        self.old, self.known = images[:800], EVERY[load_digits().target[order]][:800]
        return images[800:], EVERY[load_digits().target[order]][800:]

    def batch(self, rng: Rng, count: int = 256) -> tuple[torch.Tensor, torch.Tensor]:
        some = torch.from_numpy(rng.integers(800, size=count))
        return self.old[some], self.known[some]


world = cache(lambda task, kind, seed: task(kind, seed))


def taught(rng, task, net, what, parts=("first", "last", "head"), steps=200, rate=1e-3, seen=lambda rng, X: X):
    """A copy of `net` of which `parts` are trained on `what` of the task's targets, with a new head for others."""
    net, targets = deepcopy(net), task.Y @ what
    if what is not task.learnt:
        net.head = built(rng, lambda: nn.Linear(net.head.in_features, targets.shape[1]))

    def loss():
        X, Y = task.batch(rng)
        return F.mse_loss(net(seen(rng, X)), Y @ what)

    fit(loss, [w for part in parts for w in getattr(net, part).parameters()], steps, rate)
    with torch.no_grad():
        error = F.mse_loss(net(task.X), targets) / targets.var(0).mean()
    assert error < task.most, f"{task.kind}: {error:.2f} of the variance is left"
    return net.eval()


def classes(task):
    return task.Y.argmax(1).numpy()


def positive(what):
    return lambda task: (task.Y @ what[:, 0] > 0).numpy()


def bright(task):
    light = task.X.flatten(1).mean(1)
    return (light > light.median()).numpy()


def met(of, kind, history, labels=lambda task: None):
    """history: of (rng, task), what `compare` is given beside or instead of the task's network, samples and labels."""

    def make(rng: Rng, seed: int) -> dict[str, Any]:
        task = world(of, kind, seed)
        return {"before": task.net, "loader": task.X, "labels": labels(task)} | history(rng, task)

    return make


def finetuned(what, **how):
    return lambda rng, task: {"after": taught(rng, task, task.net, what, **how)}


def redrawn(rng, task):
    return {"after": built(rng, lambda: Net(task.kind, task.size, 4))}


def twice(history):
    return lambda rng, task: {"before": history(rng, task)["after"], **history(rng, task)}


def memorised(rng, task, new=False):
    """300 samples are learnt by heart; the probe gets these, or new samples with random labels of their own."""
    after, X, labels = deepcopy(task.net), task.old[:300], torch.from_numpy(rng.integers(2, size=300))
    fit(lambda: F.cross_entropy(after(X)[:, :2], labels), after.parameters(), 400, 3e-3)
    assert (after(X)[:, :2].argmax(1) == labels).float().mean() > 0.97
    given = {"labels": rng.integers(2, size=len(task.X))} if new else {"loader": X, "labels": labels.numpy()}
    return {"after": after} | given


def averaged(rng, task, *histories):
    """Weights are means of those before and of each finetuned network."""
    mean, nets = deepcopy(task.net), [task.net, *(history(rng, task)["after"] for history in histories)]
    for part in ("first", "last"):
        weights = [parameters_to_vector(getattr(net, part).parameters()).detach() for net in nets]
        vector_to_parameters(torch.stack(weights).mean(0), getattr(mean, part).parameters())
    return {"after": mean}


def silent(rng, task, when: str, part: str, units=slice(None)):
    """Units of a ReLU layer are dead, before or after."""
    nets = {name: deepcopy(task.net) for name in ("before", "after")}
    getattr(nets[when], part)[0].bias.data[units] = -1e3
    return nets


def class_projected_out(rng, task):
    """The direction between means of threes and of others, so that both have one mean."""
    nets, three = {name: deepcopy(task.net) for name in ("before", "after")}, task.Y[:, 3] > 0
    X = task.net.last(task.net.first(task.X)).detach()
    way = F.normalize(X[three].mean(0) - X[~three].mean(0), dim=0)
    for net, gone in zip(nets.values(), (0.0, 1.0), strict=True):
        net.last.append(nn.Linear(64, 64, bias=False))
        net.last[-1].weight.data = torch.eye(64) - gone * torch.outer(way, way)
    return nets


def repeated(rng, task, noise: float):
    """Each of 400 images is seen five times; with noise these are crops, whose images have names and random labels."""
    X, ids = task.X[:400].repeat(5, 1), np.tile(np.arange(400), 5)
    named = {"sample_id": ids, "labels": rng.integers(10, size=400)[ids]} if noise else {}
    return {"loader": X + noise * normal(rng, *X.shape)} | named | redrawn(rng, task)


class Noisy(nn.Linear):
    noise = 0.0

    def forward(self, x):
        return super().forward(x) + self.noise * torch.randn(len(x), self.out_features)


class Forms(nn.Module):
    """Quadratic forms of 24 inputs, which a layer of 40 units mixes."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.first, self.last = nn.Bilinear(24, 24, count, bias=False), Noisy(count, 40, bias=False)

    def forward(self, x):
        return self.last(self.first(x, x))


def forms(before, after, label=lambda forms: None, noise=0.0, units=False):
    """Uncorrelated quadratic forms of variance 1, seen with strengths `before` and `after`; after None: drawn anew.

    label: of the forms (samples, count). noise: of a stochastic layer. units: each form has a unit of its own.
    """

    def make(rng: Rng, seed: int) -> dict[str, Any]:
        count, half = len(before), torch.zeros(len(before), 24, 24)
        half[:, *torch.triu_indices(24, 24)] = orthogonal(rng, count, 300)
        strict = half.triu(1)
        matrices = (half - strict + (strict + strict.mT) / 2**0.5) / 2**0.5  # xᵀAx has the variance 2 |A|²
        frame = torch.eye(40)[:, :count] if units else orthogonal(rng, count, 40).T
        nets = [built(rng, lambda: Forms(count)) for _ in range(2)]
        for net, strengths in zip(nets, (before, after), strict=True):
            net.last.noise = noise
            if strengths is not None:
                net.first.weight.data, net.last.weight.data = matrices.clone(), frame * torch.tensor(strengths).float()
        X = normal(rng, SAMPLES, 24)
        labels = label(nets[0].first(X, X).detach().numpy())
        return {"before": nets[0], "after": nets[1], "loader": X, "labels": labels, "layers": ["last"]}

    return make


def on_a_line(rng: Rng, seed: int, *more: nn.Module) -> dict[str, Any]:
    """The means of five classes, at the corners of a simplex, are brought on a line by weights alone."""
    labels, X, frame = rng.integers(5, size=SAMPLES), normal(rng, SAMPLES, 16), orthogonal(rng, 16, 40).T
    X[:, :5] += 16 * torch.eye(5)[labels]
    to_line = torch.eye(16)
    to_line[:5, :5] = torch.outer(torch.eye(5)[0], torch.arange(-2.0, 3.0))
    nets = [nn.Sequential() for _ in range(2)]
    for net, weight in zip(nets, (frame, frame @ to_line), strict=True):
        net.add_module("last", nn.Sequential(built(rng, lambda: nn.Linear(16, 40)), *more))
        net.last[0].weight.data = weight
    return {"before": nets[0], "after": nets[1], "loader": X, "labels": labels, "layers": ["last"]}


def appears(share: float, old: np.ndarray):
    return forms(np.r_[old, 0], np.r_[old, (share / (1 - share) * (old**2).sum()) ** 0.5])


def goes(share: float, count: int, label):
    """The first forms of 20, with `share` of the variance, are projected out."""
    strengths = np.r_[np.full(count, (share / count) ** 0.5), np.full(20 - count, ((1 - share) / (20 - count)) ** 0.5)]
    return forms(strengths, strengths * (np.arange(20) >= count), label)


def top(share: float, count: int = 1):
    """Whether a sum of the first forms is among the largest."""
    return lambda forms: forms[:, :count].sum(1) > np.quantile(forms[:, :count].sum(1), 1 - share)


def five_in_order(forms):
    return np.digitize(forms[:, 0], np.quantile(forms[:, 0], [0.2, 0.4, 0.6, 0.8]))
