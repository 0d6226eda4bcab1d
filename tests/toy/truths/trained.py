"""Layers of networks that were trained. Tasks and penalties are such that what is left of the features is beyond doubt.

The baseline is the same layer of a network that was drawn at random and not trained.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

from toy.truths.case import ADD, REPLACE, REWEIGHT, SELECT, UNCHANGED, Recordings, cases
from toy.truths.untrained import cnn, images, patterns
from toy.truths.weights import SAMPLES, Rng, built, normal, recorded


def fit(loss: Callable[[], torch.Tensor], weights, steps: int, rate: float = 0.01, decay: float = 0.0) -> float:
    """Adam on all samples, its rate falling to 0; decay: of the penalty decay · Σ w² / 2. The loss without it."""
    weights = [w.requires_grad_() for w in weights]
    optimiser = torch.optim.Adam(weights, lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.0, steps)
    for _ in range(steps):
        optimiser.zero_grad()
        value = loss()
        (value + 0.5 * decay * sum(w.square().sum() for w in weights)).backward()
        optimiser.step()
        schedule.step()
    return value.item()


GONE = 1e-3  # of a layer's squared weights, at most, look at an input that is not used; 3 times as much at every other


def on(rng: Rng, task: Mlp, first: torch.Tensor, strengths: torch.Tensor, rate=0.02, steps=500) -> torch.Tensor:
    """Weights of a layer, from `first` on, that was trained on features of these strengths with a new readout.

    Where features are of strength 0 the penalty is so strong that the layer has lost sight of them, and of no others.
    """
    unused, Y = strengths == 0, task.targets(strengths)
    first = first.clone()
    second = 0.1 * normal(rng, task.see(first).shape[1], Y.shape[1])
    penalty = task.strong if unused.any() else task.penalty
    fit(lambda: (task.see(first) @ second - Y).square().sum(1).mean(), [first, second], steps, rate, penalty)
    first = first.detach()
    seen = task.looks_at(first).sum(1)
    assert (seen[unused] < GONE * seen.sum()).all(), f"{seen[unused].max() / seen.sum():.4f} of the weights"
    assert (seen[~unused] > 3 * GONE * seen.sum()).all(), f"{seen[~unused].min() / seen.sum():.4f} of the weights"
    return first


INPUTS, HIDDEN = 20, 60
STRENGTHS = torch.arange(1, 1 + INPUTS) ** -0.5


class Mlp:
    """A ReLU layer. Features are the positive parts of single inputs, which are independent."""

    features, penalty, strong = INPUTS, 1e-3, 2e-2  # strong: a penalty after which unused features are gone

    def __init__(self, rng: Rng) -> None:
        self.X, self.fresh = normal(rng, 1000, INPUTS), normal(rng, SAMPLES, INPUTS)

    def start(self, rng: Rng) -> torch.Tensor:
        return 0.1 * normal(rng, INPUTS, HIDDEN)

    def see(self, weights: torch.Tensor, X: torch.Tensor | None = None) -> torch.Tensor:
        return F.relu((self.X if X is None else X) @ weights)

    def targets(self, strengths: torch.Tensor) -> torch.Tensor:
        return (F.relu(self.X) * strengths)[:, strengths > 0]

    def recorded(self, *weights: torch.Tensor) -> Recordings:
        """Of samples that were not trained on."""
        return recorded(*(self.see(W, self.fresh) for W in weights))

    @staticmethod
    def looks_at(weights: torch.Tensor) -> torch.Tensor:
        """(features, units) squared weights."""
        return weights.square()


class Cnn(Mlp):
    """A ReLU convolution, averaged over the image. Features are the positive parts of single image channels.

    Kernels are 1 × 1: larger ones see other features of the same channel where their shapes differ.
    """

    features, penalty, strong = 8, 3e-3, 4e-2

    def __init__(self, rng: Rng) -> None:
        self.X, self.fresh = (patterns(rng, self.features, count)[:, :, ::2, ::2] for count in (800, SAMPLES))

    def start(self, rng: Rng) -> torch.Tensor:
        return 0.1 * normal(rng, 24, self.features, 1, 1)

    def see(self, weights, X=None):
        return F.relu(F.conv2d(self.X if X is None else X, weights)).mean((2, 3))

    def targets(self, strengths):
        return (F.relu(self.X).mean((2, 3)) * strengths)[:, strengths > 0]

    @staticmethod
    def looks_at(weights):
        return weights.square().sum((2, 3)).T


def taught(network, old, new, again=False):
    """Trained on the features of strengths `old`, then on those of `new`.

    again: from other random weights, at three times the rate.
    """
    old, new = (torch.as_tensor(strengths, dtype=torch.float32) for strengths in (old, new))

    def make(rng: Rng) -> Recordings:
        task = network(rng)
        before = on(rng, task, task.start(rng), old)
        after = on(rng, task, task.start(rng), new, rate=0.06) if again else on(rng, task, before, new)
        return task.recorded(before, after, task.start(rng))

    return make


def only(network, *places: int):
    return [float(place in places) for place in range(network.features)]


def pruned_units(rng: Rng) -> Recordings:
    """Units that look at 14 of the 20 inputs are removed after the training."""
    task = Mlp(rng)
    weights = on(rng, task, task.start(rng), torch.ones(INPUTS))
    kept = torch.isin(task.looks_at(weights).argmax(0), torch.arange(6))
    return task.recorded(weights, weights[:, kept], task.start(rng))


def distilled(strengths: torch.Tensor):
    """A student from other weights, trained on the teacher's responses, each times the strength of its feature."""

    def make(rng: Rng) -> Recordings:
        task = Mlp(rng)
        teacher = on(rng, task, task.start(rng), torch.ones(INPUTS))
        wanted = teacher * strengths[task.looks_at(teacher).argmax(0)]
        student = 2 * task.start(rng)
        Y = task.see(wanted)
        loss = fit(lambda: (task.see(student) - Y).square().mean(), [student], 800, 0.03)
        assert loss < 1e-3 * Y.var(), f"the student is {loss / Y.var():.4f} away"
        return task.recorded(teacher, student, task.start(rng))

    return make


def readout_alone(build, X, depth: int):
    """Trained on the classes of digits, then the readout alone on whether they are even."""
    classes = torch.from_numpy(load_digits().target)

    def make(rng: Rng) -> Recordings:
        network, other, images = built(rng, build), built(rng, build), X()
        some = torch.from_numpy(rng.permutation(len(images))[:500])
        fit(lambda: F.cross_entropy(network(images[some]), classes[some]), network.parameters(), 40)
        before = network[:depth](images)
        fit(lambda: F.cross_entropy(network(images[some]), classes[some] % 2), network[-1].parameters(), 40)
        return recorded(before, network[:depth](images), other[:depth](images))

    return make


class Transformer(Mlp):
    """The feed-forward layer of a class token that attends to random tokens, as an Mlp of what it attends to."""

    strong = 4e-2

    def __init__(self, rng: Rng) -> None:
        query = normal(rng, INPUTS)
        self.X, self.fresh = (self._attended(normal(rng, count, 6, INPUTS), query) for count in (1000, SAMPLES))

    @staticmethod
    def _attended(tokens: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        return 2 * torch.einsum("nt,ntd->nd", (tokens @ query / INPUTS**0.5).softmax(1), tokens)


class Mean(nn.Module):
    def forward(self, tokens):
        return tokens.mean(1)


def rows_as_tokens() -> nn.Sequential:
    """A transformer of digits, whose rows are tokens."""
    block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Linear(8, 32), block, Mean(), nn.Linear(32, 10))


def dense() -> nn.Sequential:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


NETWORKS = {"mlp": Mlp, "cnn": Cnn, "transformer": Transformer}
UNUSED = "a penalty removes what looks at inputs that the task does not ask for"
EVEN, STAYS = torch.tensor([3.0, 1.0]).repeat(INPUTS // 2), torch.ones(INPUTS)


def _of_each(kind: str):
    network = NETWORKS[kind]
    half = network.features // 2
    every, first, second = range(network.features), range(half), range(half, network.features)
    on = [only(network, *places) for places in (every, first, second, range(network.features // 3))]
    return [
        (f"{kind} finetuned on a third of its features", SELECT, UNUSED, taught(network, on[0], on[3])),
        (f"{kind} finetuned on as many features more", ADD, "old outputs and as many new ones are asked for",
         taught(network, on[1], on[0])),
        (f"{kind} trained from other weights on other features", REPLACE, f"the tasks share no features; {UNUSED}",
         taught(network, on[1], on[2], again=True)),
    ]  # fmt: skip


def _reversed(kind: str):
    why = "outputs of strengths 1/k, then in reversed order; penalised variances are as the strengths"
    return (f"{kind} finetuned on its features in reversed strengths", REWEIGHT, why,
            taught(NETWORKS[kind], STRENGTHS**2, STRENGTHS.flip(0) ** 2))  # fmt: skip


def _digits(kind: str, build, images, depth: int):
    return (f"{kind} on digits, readout alone finetuned", UNCHANGED, "the layer's weights stay",
            readout_alone(build, images, depth))  # fmt: skip


CASES = [
    *cases("mlp", [
        ("ReLU network that reuses three weakly pretrained features", SELECT, UNUSED,
         taught(Mlp, STRENGTHS, only(Mlp, 17, 18, 19))),
        *_of_each("mlp"),
        _reversed("mlp"),
        ("mlp, units of 14 of 20 features pruned", SELECT, "every unit looks at one of 20 independent inputs",
         pruned_units),
        ("mlp distilled", UNCHANGED, "responses are the teacher's, but for a loss below .1 % of their variance",
         distilled(STAYS)),
        ("mlp distilled, half of the features times 3", REWEIGHT,
         "responses are the teacher's times 3 for half of the inputs, but for .1 % of their variance",
         distilled(EVEN)),
        _digits("mlp", dense, lambda: images().flatten(1), 2),
    ]),
    *cases("cnn", [*_of_each("cnn"), _digits("cnn", cnn, images, 6)]),
    *cases("transformer", [
        *_of_each("transformer"),
        _reversed("transformer"),
        _digits("transformer", rows_as_tokens, lambda: images().squeeze(1), 3),
    ]),
]  # fmt: skip
