"""Ridge regression on a network's features against autograd, scikit-learn's kernel ridge and sampled risks."""

import numpy as np
import pytest
import torch
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, LeaveOneOut

from carryover.training.kernel_ridge import STRENGTHS, fit, kernel


def sphere(rng, n, D):
    X = rng.standard_normal((n, D))
    return X * np.sqrt(D) / np.linalg.norm(X, axis=1, keepdims=True)


def problem(seed=0, n=12, D=4, H=30, noise=0.3):
    """first, readout, X, y, directions, teacher_readout."""
    rng = np.random.default_rng(seed)
    first, readout, X = rng.standard_normal((H, D)), rng.standard_normal(H), sphere(rng, n, D)
    directions, teacher_readout = np.linalg.qr(rng.standard_normal((D, D)))[0][:2], np.array([1.0, -0.7])
    y = outputs(directions, teacher_readout, X) + noise * rng.standard_normal(n)
    return first, readout, X, y, directions, teacher_readout


@pytest.fixture(params=["probe", "tangent"])
def start(request):
    """Problems of networks as they are, or of their probes, whose readout begins at 0."""

    def posed(*arguments, **options):
        first, readout, *rest = problem(*arguments, **options)
        return first, 0 * readout if request.param == "probe" else readout, *rest

    return posed


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def predicted(fitted, X):
    """The network linearised where it started, along its displacement."""
    change = (X @ fitted.first.T > 0) * (X @ fitted.first_change.T)
    return outputs(fitted.first, fitted.readout, X) + change @ fitted.start_readout


def test_the_kernel_is_the_gram_matrix_of_autograds_jacobians(start):
    first, readout, X, *_ = start()
    Z = sphere(np.random.default_rng(1), 5, 4)

    def jacobian(inputs):
        def network(w, a):
            return torch.relu(torch.as_tensor(inputs) @ w.T) @ a

        weights = torch.as_tensor(first), torch.as_tensor(readout)
        return torch.cat([one.flatten(1) for one in torch.autograd.functional.jacobian(network, weights)], 1).numpy()

    np.testing.assert_allclose(kernel(first, readout, X, Z), jacobian(X) @ jacobian(Z).T, rtol=1e-10)


def test_strengths_are_those_of_explicit_leave_one_out(start):
    chosen = []
    for seed, noise in enumerate([0.0, 0.3, 1.0, 10.0, 30.0]):
        first, readout, X, y, *_ = start(seed, noise=noise)
        gram = kernel(first, readout, X, X)
        search = GridSearchCV(
            KernelRidge(kernel="precomputed"),
            {"alpha": STRENGTHS},
            cv=LeaveOneOut(),
            scoring="neg_mean_squared_error",
        ).fit(gram / np.linalg.eigvalsh(gram).mean(), y - outputs(first, readout, X))
        assert fit(first, readout, X, y).strength == search.best_params_["alpha"]
        chosen.append(search.best_params_["alpha"])
    assert len(set(chosen)) >= 3


def test_predictions_are_those_of_kernel_ridge(start):
    first, readout, X, y, *_ = start(2)
    X_new = sphere(np.random.default_rng(3), 50, 4)
    fitted = fit(first, readout, X, y)
    scale = np.trace(kernel(first, readout, X, X)) / len(X)
    ridge = KernelRidge(alpha=fitted.strength * scale, kernel="precomputed")
    ridge.fit(kernel(first, readout, X, X), y - outputs(first, readout, X))
    expected = ridge.predict(kernel(first, readout, X_new, X)) + outputs(first, readout, X_new)
    np.testing.assert_allclose(predicted(fitted, X_new), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fitted.loss, np.mean((predicted(fitted, X) - y) ** 2), rtol=1e-12)


def test_risk_is_the_mean_squared_error_over_the_sphere(start):
    first, readout, X, y, directions, teacher_readout = start(7)
    fitted = fit(first, readout, X, y)
    X_new = sphere(np.random.default_rng(8), 200_000, 4)
    errors = (predicted(fitted, X_new) - outputs(directions, teacher_readout, X_new)) ** 2
    assert abs(fitted.risk(directions, teacher_readout) - errors.mean()) < 5 * errors.std() / np.sqrt(len(errors))


@pytest.mark.parametrize("n", [1, 2])
def test_too_few_samples_to_choose_are_interpolated(start, n):
    first, readout, X, y, *_ = start(11, n=n)
    fitted = fit(first, readout, X, y)
    assert fitted.strength == STRENGTHS[0]
    np.testing.assert_allclose(predicted(fitted, X), y, rtol=1e-5)


def test_a_network_without_an_active_unit_is_refused():
    _, readout, X, y, *_ = problem()
    with pytest.raises(ValueError, match="no unit of the network is active on any sample"):
        fit(np.zeros((30, 4)), readout, X, y)
