"""How gradient flow of ReLU networks ends where it cannot go on, and what it refuses to begin with."""

import numpy as np
import pytest

from carryover.networks.relu import Weights
from carryover.training import relu_flow
from carryover.training.relu import Task
from carryover.training.relu_flow import gradient_flow
from carryover.training.result import Divergence
from toy.relu_ensembles import ensemble


def unit(X, y, weights):
    """The task of one unit with a fixed readout of 1, and the unit."""
    one = np.array([0])
    return [Task(np.array([X], float), np.array([y], float), one)], Weights(np.array([[weights]]), np.ones((1, 1, 1)))


@pytest.mark.parametrize(("samples", "width"), [(4, 6), (40, 10), (40, 100)])
def test_samples_that_contradict_each_other_end_at_the_smallest_loss(samples, width):
    tasks, w = ensemble(samples=(samples,), D=12, H=width)
    tasks[0].X[:, 1], tasks[0].y[:, 1] = tasks[0].X[:, 0], tasks[0].y[:, 0] + 1
    trained = gradient_flow(tasks, w, tolerance=1e-8, device="cpu")
    assert not trained.converged.any()
    assert (trained.evaluations < 1000).all()  # of the 10 000 that were granted
    if width == 100:  # of all samples two differ by 1
        np.testing.assert_allclose(trained.loss, 0.5 / samples, rtol=1e-6)
        assert trained.at_rest.all()
    assert np.isfinite(trained.weights.first).all()


@pytest.mark.parametrize("start", [[0.5, 0.5], [-0.2, 1.3], [0.3, 1.2]])
def test_a_unit_slides_along_a_kink(start):
    """The first sample pushes it to where it does not respond, the second one back, and on along the kink."""
    tasks, w = unit([[1, 0], [1, 1]], [-1, 2], start)
    trained = gradient_flow(tasks, w, tolerance=0.5001, trainable="first", device="cpu")
    assert trained.converged.all()
    assert trained.evaluations[0] < 500
    np.testing.assert_allclose(trained.weights.first[0, 0], [0, 2], atol=0.03)


@pytest.mark.parametrize("start", [[0.5, 0.5], [-0.2, 1.3], [0.3, 1e-3]])
def test_a_run_that_stays_at_a_kink_ends_there(start):
    """Two samples push the unit to the kink from both sides, so that the gradient never gets small."""
    tasks, w = unit([[1, 0], [-1, 0], [0, 1]], [-1, -1, 1], start)
    trained = gradient_flow(tasks, w, tolerance=1e-3, trainable="first", device="cpu")
    assert not trained.converged.any()
    assert not trained.at_rest.any()
    assert trained.evaluations[0] < 5000
    assert 2 / 3 <= trained.loss[0] < 0.68
    np.testing.assert_allclose(trained.weights.first[0, 0], [0, 1], atol=0.01)


def test_a_network_that_responds_to_nothing_ends_where_it_begins():
    tasks, w = unit([[1, 0], [1, 1]], [1, 1], [-1.0, -1.0])
    trained = gradient_flow(tasks, w, tolerance=1e-3, device="cpu")
    assert (trained.converged[0], trained.evaluations[0], trained.loss[0]) == (False, 1, 1.0)
    assert trained.at_rest[0]
    np.testing.assert_array_equal(trained.weights.first, w.first)


def test_runs_without_a_finite_loss_are_named(monkeypatch):
    monkeypatch.setitem(relu_flow.BYTES, "cpu", 1)  # a run at a time
    tasks, w = ensemble()
    w.first[1] *= 1e200
    with pytest.raises(Divergence, match="finite loss") as caught:
        gradient_flow(tasks, w, tolerance=1e-3, device="cpu")
    assert list(caught.value.runs) == [1]
