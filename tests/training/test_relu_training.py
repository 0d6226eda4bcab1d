"""Ensembles of ReLU networks against autograd, when runs end, and what becomes of steps that are too large."""

import numpy as np
import pytest
import torch

from carryover.training import relu
from carryover.training.integrate import log_checkpoints
from carryover.training.relu import gradient_descent
from carryover.training.result import Divergence
from rounding import share
from toy.relu_ensembles import EXACT, OBJECTIVES, assert_same, ensemble, part


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
    np.testing.assert_array_equal(trained.measured["learning_rate"], 0.05)
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


def test_runs_end_at_their_first_checkpoint_below_the_tolerance():
    tasks, w = ensemble(seed=3, runs=6, samples=(4,), H=12)
    settings = {"learning_rate": 0.04, "max_epochs": 1500, **EXACT}
    seen = []

    def risk(first, second, runs):
        """Any function of the network that moves up and down."""
        assert first.shape == (len(runs), 12, 4)
        assert second.shape == (len(runs), 1, 12)
        seen.append(len(runs))
        return torch.sin(40 * first[:, 0, 0]) + second[:, 0, 0]

    free = gradient_descent(tasks, w, **settings, tolerance=0.0, observe={"risk": risk})
    tolerance = 1.5 * float(np.median(free.loss))
    trained = gradient_descent(tasks, w, **settings, tolerance=tolerance, observe={"risk": risk})
    epochs = log_checkpoints(1500, 64).tolist()
    assert len(epochs) < 64
    assert len(set(seen)) > 2  # networks that have ended are no longer recorded
    for run in range(6):
        below = np.flatnonzero(free.curves["loss"][run, : len(epochs)] <= tolerance)
        last = below[0] if len(below) else len(epochs) - 1
        assert trained.converged[run] == (len(below) > 0)
        assert trained.evaluations[run] == epochs[last]
        recorded = slice(0, last + 1)
        np.testing.assert_allclose(trained.time[run, recorded], 0.04 * np.array(epochs[recorded]), rtol=1e-15)
        for name in ("loss", "risk"):
            curve = trained.curves[name][run]
            np.testing.assert_allclose(curve[recorded], free.curves[name][run, recorded], rtol=1e-9)
            assert np.isnan(curve[last + 1 :]).all()
        assert np.isnan(trained.time[run, last + 1 :]).all()
        assert trained.loss[run] == trained.curves["loss"][run, last]
        assert trained.risk_final[run] == trained.curves["risk"][run, last]
        assert trained.risk_best[run] == trained.curves["risk"][run, recorded].min()
        weights = [torch.tensor(layer[[run]]) for layer in (trained.weights.first, trained.weights.second)]
        assert float(risk(*weights, [run])) == pytest.approx(trained.risk_final[run], rel=1e-12)
    assert 0 < trained.converged.sum() < 6
    assert (trained.risk_best < trained.risk_final).any()


# Steps that are too large.


@pytest.mark.portable
@pytest.mark.parametrize(("size", "precision"), [(0, "float64"), (3, "float64"), (3, "float32")])
def test_a_run_that_diverges_begins_again_with_a_quarter_of_the_rate(size, precision):
    tasks, w = ensemble(runs=5, samples=(7, 4))
    tasks[0].X[1] *= 8
    tasks[1].X[3] *= 30
    settings = {"tolerance": 0.02, "max_epochs": 200, "batch_size": size, "precision": precision, "device": "cpu"}
    settings |= {"observe": {"risk": lambda first, second, runs: second.sum((1, 2))}}
    settings |= {"shuffles": lambda run: np.random.default_rng([9, run])}
    trained = gradient_descent(tasks, w, learning_rate=0.08, **settings)
    cuts = np.log(0.08 / trained.measured["learning_rate"]) / np.log(4)
    np.testing.assert_array_equal(trained.measured["learning_rate"], 0.08 / 4 ** np.round(cuts))
    assert cuts[[0, 2, 4]].max() == 0 < cuts[1] < cuts[3]
    for run in range(5):
        own = {**settings, "shuffles": lambda _, run=run: np.random.default_rng([9, run])}
        alone = gradient_descent(*part(tasks, w, run), learning_rate=trained.measured["learning_rate"][run], **own)
        assert_same(alone, trained, slice(run, run + 1), share=share(precision, 200 * 3, 4 + 6 + 7))


def test_runs_that_diverge_with_every_rate_are_named():
    tasks, w = ensemble(runs=4)
    tasks[0].X[[1, 3]] *= 1e5
    settings = {"learning_rate": 0.4, "tolerance": 1e-10, "max_epochs": 20, **EXACT}
    rate = f"{0.4 / 4**10:g}"
    sentence = rf"^gradient descent diverged with learning rates down to {rate} in runs \[1, 3\]$"
    with pytest.raises(Divergence, match=sentence) as caught:
        gradient_descent(tasks, w, **settings)
    assert caught.value.runs == (1, 3)
