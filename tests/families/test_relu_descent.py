"""Shares of wrong labels along training of ReLU networks against sampling; where training stops."""

from types import SimpleNamespace

import numpy as np
import pytest

from carryover.families.relu import pretrain, solvers
from carryover.networks.relu import Weights
from carryover.tasks.sparse import sphere
from carryover.training.relu import gradient_descent
from carryover.training.result import Divergence
from toy.relu_toys import finetuned, pretrained

D, H, K = 5, 12, 3
SETTINGS = {
    "learning_rate": 0.05, "tolerance": 1e-9, "max_epochs": 40, "batch_size": 0, "loss": "squared",
    "precision": "float64", "device": "cpu",
}  # fmt: skip


def problem(labels, runs=3, n=20):
    """Teachers and networks of one size; the last teacher has a unit less, which is padding."""
    rng = np.random.default_rng(0)
    directions, readout = rng.standard_normal((runs, K, D)), rng.standard_normal((runs, K))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    directions[-1, -1], readout[-1, -1] = np.nan, 0
    teacher = Weights(np.nan_to_num(directions), readout[:, None])
    X = np.stack([sphere(rng, n, D) for _ in range(runs)])
    p = SimpleNamespace(loss="cross_entropy" if labels else "squared")
    start = Weights(0.4 * rng.standard_normal((runs, H, D)), 0.4 * rng.standard_normal((runs, 1, H)))
    return pretrain.Problem([pretrain.task(p, X, teacher, np.arange(runs))], start, teacher, np.random.default_rng)


def test_the_share_of_wrong_labels_is_that_of_many_new_inputs(monkeypatch):
    posed = problem(labels=True)
    p = SimpleNamespace(**{**SETTINGS, "loss": "cross_entropy", "learning_rate": 0.5, "max_epochs": 200})
    networks = []

    def kept(first, second, runs):
        networks.append(Weights(first.numpy().copy(), second.numpy().copy()))
        return second[:, 0, 0]

    def spied(*, observe, **settings):
        return gradient_descent(observe={**observe, "kept": kept}, **settings)

    monkeypatch.setattr(solvers, "gradient_descent", spied)
    trained = solvers.descent(posed, p)
    X = sphere(np.random.default_rng(1), 40_000, D)
    positive = posed.teacher.outputs(X)[..., 0] > 0
    for checkpoint in (0, 5, len(networks) - 1):
        wrong = ((networks[checkpoint].outputs(X)[..., 0] > 0) != positive).mean(1)
        found = trained.curves["risk"][:, checkpoint]
        assert (np.abs(wrong - found) <= 4 * np.sqrt(wrong * (1 - wrong) / solvers.TEST_SAMPLES) * 1.03).all()
        responses = networks[checkpoint].responses(X)
        for run, values in enumerate(responses):
            eigenvalues = np.linalg.eigvalsh(np.cov(values.T))
            ratio = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
            assert trained.curves["effective_features"][run, checkpoint] == pytest.approx(ratio, rel=0.05)
    assert (trained.risk_final < trained.curves["risk"][:, 0]).all()


def test_a_divergence_names_the_runs_by_what_they_are():
    start = pretrained(seeds=(4, 7), max_epochs=1)
    told = {"learning_rate": 1e9, "max_epochs": 5, "initial_scale": (1.0,), "seeds": (4, 7), "tolerance": 1e-12}
    with pytest.raises(Divergence) as caught:
        finetuned(start, "single_task", **told)
    said = str(caught.value)
    assert said.startswith(f"gradient descent diverged with learning rates down to {1e9 / 4**10:g} in 2 runs: seed 4, ")
    for word in ("; seed 7, ", "main_features 2", "overlap 0.5", "samples 4", "protocol single_task"):
        assert word in said


@pytest.mark.parametrize(("loss", "idle"), [("squared", None), ("cross_entropy", np.log(2))])
def test_training_stops_at_a_fraction_of_the_loss_of_outputs_of_0(loss, idle):
    posed = problem(labels=loss == "cross_entropy")
    trained = solvers.descent(posed, SimpleNamespace(**SETTINGS | {"tolerance": 0.2, "max_epochs": 5000, "loss": loss}))
    limit = 0.2 * (np.mean(posed.tasks[0].y ** 2, axis=1) if idle is None else idle)
    assert trained.converged.all()
    assert (trained.loss <= limit).all()
    assert (trained.loss > 0.5 * limit).all()
