"""Ensembles of ReLU networks against autograd, and against themselves one by one, in blocks, on other devices."""

import numpy as np
import pytest
import torch

from carryover.training import relu
from carryover.training.relu import gradient_descent
from rounding import share
from toy.relu_ensembles import EXACT, assert_same, ensemble


def logistic(f, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(f, (y + 1) / 2)


OBJECTIVES = {"squared": torch.nn.functional.mse_loss, "cross_entropy": logistic}


def autograd(tasks, w, run, rate, steps, loss):
    """One network after torch's own steps, and its loss on all samples; `steps` name the samples of each task."""
    X = [torch.tensor(t.X[t.sets[run]]) for t in tasks]
    y = [torch.tensor(t.y[run]) for t in tasks]
    first, second = (torch.tensor(layer[run], requires_grad=True) for layer in (w.first, w.second))
    optimiser = torch.optim.SGD([first, second], lr=rate)

    def objective(chosen):
        outputs = (torch.relu(X[o][i] @ first.T) @ second[o] for o, i in enumerate(chosen))
        return sum(OBJECTIVES[loss](f, y[o][i]) for (o, i), f in zip(enumerate(chosen), outputs, strict=True))

    for chosen in steps:
        optimiser.zero_grad()
        objective(chosen).backward()
        optimiser.step()
    with torch.no_grad():
        return first.numpy(), second.numpy(), objective([slice(None)] * len(X)).item()


class Recorded:
    """A generator whose orders are kept."""

    def __init__(self, seed):
        self.rng, self.drawn = np.random.default_rng(seed), []

    def permuted(self, *told, **options):
        self.drawn.append(self.rng.permuted(*told, **options))
        return self.drawn[-1]


def steps_of(orders, samples, size, epochs):
    """Samples of each task in every step; `orders` (epochs, n) of every task."""
    for epoch in range(epochs):
        batches = [
            [order[epoch][i : i + size] for i in range(0, n, size)] if n > size else [slice(None)]
            for order, n in zip(orders, samples, strict=True)
        ]
        for step in range(max(map(len, batches))):
            yield [parts[step % len(parts)] for parts in batches]


# Gradients.


@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize(("samples", "size"), [((5,), 2), ((7, 4), 3), ((3, 8), 4), ((5, 6, 2), 5), ((6, 4), 0)])
def test_training_is_that_of_autograd(samples, size, loss):
    tasks, w = ensemble(samples=samples, sets=[0, 1, 0], loss=loss)
    generators = [Recorded(run) for run in range(3)]
    settings = {"learning_rate": 0.05, "tolerance": 0.0, "max_epochs": 40, "batch_size": size, "loss": loss, **EXACT}
    trained = gradient_descent(tasks, w, **settings, shuffles=generators.__getitem__)
    per_epoch = max(-(-n // (size or n)) for n in samples)
    np.testing.assert_array_equal(trained.evaluations, 40 * per_epoch)
    np.testing.assert_array_equal(trained.learning_rate, 0.05)
    for run, generator in enumerate(generators):
        shuffled = [o for o, n in enumerate(samples) if n > size > 0]  # their orders are drawn in turn, in blocks
        blocks = {o: generator.drawn[i :: len(shuffled)] for i, o in enumerate(shuffled)}
        orders = [np.concatenate(blocks[o]) if o in blocks else None for o in range(len(samples))]
        steps = list(steps_of(orders, samples, size or max(samples), 40))
        first, second, value = autograd(tasks, w, run, 0.05, steps, loss)
        np.testing.assert_allclose(trained.weights.first[run], first, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(trained.weights.second[run], second, rtol=1e-10, atol=1e-12)
        assert trained.loss[run] == pytest.approx(value, rel=1e-10)


# What a run is trained with does not matter.


@pytest.mark.portable
@pytest.mark.parametrize("loss", OBJECTIVES)
@pytest.mark.parametrize("columns", [1, 3])
def test_blocks_of_samples_add_up_to_all_of_them(columns, loss, monkeypatch):
    tasks, w = ensemble(samples=(11, 6), loss=loss)
    settings = {"learning_rate": 0.05, "tolerance": 0.0, "max_epochs": 30, "loss": loss, **EXACT}
    for size in (0, 7):
        told = {**settings, "batch_size": size, "shuffles": np.random.default_rng}
        whole = gradient_descent(tasks, w, **told)
        with monkeypatch.context() as patch:
            patch.setitem(relu._COLUMNS, "cpu", columns)
            blocks = gradient_descent(tasks, w, **told)
            assert_same(blocks, whole, share=share("float64", 30 * 2, 4 + 6 + 11))


@pytest.mark.parametrize("loss", OBJECTIVES)
def test_single_precision_follows_double(loss):
    tasks, w = ensemble(samples=(9, 20), D=6, H=30, loss=loss)
    settings = {
        "learning_rate": 0.02,
        "tolerance": 0.0,
        "max_epochs": 60,
        "batch_size": 8,
        "loss": loss,
        "device": "cpu",
    }
    single, double = (
        gradient_descent(tasks, w, **settings, precision=precision, shuffles=np.random.default_rng)
        for precision in ("float32", "float64")
    )
    assert_same(single, double, share=share("float32", 60 * 3, 6 + 30 + 8))
    np.testing.assert_array_equal(single.time, double.time)
    assert not np.array_equal(single.weights.first, double.weights.first)
