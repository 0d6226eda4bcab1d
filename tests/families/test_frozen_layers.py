"""Deep linear networks whose first layers are frozen, trained and solved."""

import numpy as np
import pytest

from toy.deep_linear_family import finetuned, inputs, labels, pretrained


def descend(layers, X, y, frozen, rate, steps):
    """β after plain gradient descent on |X W_1 … W_L − y|²/(2n), the first layers of which stay as they are."""
    layers = [*layers[:-1], layers[-1][:, None]]
    for _ in range(steps):
        left, right = [np.eye(X.shape[1])], [np.ones((1, 1))]
        for layer, last in zip(layers[:-1], layers[:0:-1], strict=True):
            left.append(left[-1] @ layer)
            right.append(last @ right[-1])
        gradient = X.T @ (X @ left[-1] @ layers[-1] - y[:, None]) / len(X)
        layers = layers[:frozen] + [
            layer - rate * left[i].T @ gradient @ right[len(layers) - 1 - i].T
            for i, layer in enumerate(layers) if i >= frozen
        ]  # fmt: skip
    return np.linalg.multi_dot(layers)[:, 0]


@pytest.mark.parametrize("frozen", [1, 2])
def test_layers_behind_frozen_ones_are_trained_as_a_loop_over_all_matrices_trains_them(frozen):
    told = {"solver": "descent", "initial_scale": 0.3, "learning_rate": 0.05, "max_steps": 300, "precision": "float64"}
    shard = pretrained(depth=(3,), **told)
    told |= {"trained_layers": (3 - frozen,), "samples": (5, 30), "tolerance": 1e-300, "max_steps": 40}
    found = finetuned("linear_transfer", shard=shard, depth=(3,), **told)
    assert set(found["frozen"].values) == {frozen}
    for r in range(found.sizes["run"]):
        run, network = found.isel(run=r), shard.isel(run=int(found["seed"][r]))
        layers = [*network["hidden"].values.astype(float), network["readout"].values.astype(float)]
        X = inputs(int(run["seed"]), int(run["samples"]))
        expected = descend(layers, X, labels(run), frozen, 0.05, 40)
        np.testing.assert_allclose(run["coefficients"].values[0], expected, rtol=1e-5, atol=1e-6)
        risk = ((expected - run["teacher"].values) ** 2).sum()
        assert float(run["risk_final"]) == pytest.approx(risk, rel=1e-5)


def test_behind_frozen_layers_of_one_feature_is_left_a_multiple_of_the_source():
    """Theorem 5.5: the best multiple, but that several layers that learn cannot change its sign and stop at 0."""
    told = {"depth": (3,), "trained_layers": (1, 2), "angle": (0.25, 0.75), "noise": (0.0,), "samples": (20,)}
    shard, steps = pretrained(depth=(3,)), {"learning_rate": 0.02, "max_steps": 20000, "tolerance": 1e-14}
    steps |= {"solver": "descent", "precision": "float64"}
    both = [finetuned("linear_transfer", shard=shard, **told, **more) for more in ({}, steps)]
    assert both[1]["converged"].values[(both[1]["angle"] < 0.5) | (both[1]["frozen"] == 2)].all()
    for found in both:
        for r in range(found.sizes["run"]):
            run = found.isel(run=r)
            source = shard["coefficients"].values[int(run["seed"]), 0]
            z = inputs(int(run["seed"]), 20) @ source
            best = z @ labels(run) / (z @ z)
            assert (best > 0) == (run["angle"] < 0.5)
            expected = best if run["frozen"] == 2 else max(best, 0.0)
            np.testing.assert_allclose(run["coefficients"].values[0], expected * source, atol=2e-3)
