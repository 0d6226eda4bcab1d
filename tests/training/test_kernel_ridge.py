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


def outputs(first, readout, X):
    return np.maximum(X @ first.T, 0) @ readout


def predicted(fitted, X):
    """The network linearised where it started, along its displacement."""
    change = (X @ fitted.first.T > 0) * (X @ fitted.first_change.T)
    return outputs(fitted.first, fitted.readout, X) + change @ fitted.start_readout


def torch_network(first, readout, X):
    return torch.relu(torch.as_tensor(X) @ first.T) @ readout


def tensors(*arrays):
    return tuple(map(torch.as_tensor, arrays))


def relative_kernel(kind, first, readout, X):
    """Training kernel in units of its mean eigenvalue."""
    gram = kernel(kind, first, readout, X, X)
    return gram / np.linalg.eigvalsh(gram).mean()


def test_kernels_are_gram_matrices_of_autograds_jacobians():
    first, readout, X, *_ = problem()
    Z = sphere(np.random.default_rng(1), 5, 4)
    jacobians = [
        torch.autograd.functional.jacobian(lambda w, a, x=x: torch_network(w, a, x), tensors(first, readout))
        for x in (X, Z)
    ]
    both = [torch.cat([part.flatten(1) for part in parts], 1).numpy() for parts in jacobians]
    np.testing.assert_allclose(kernel("tangent", first, readout, X, Z), both[0] @ both[1].T, rtol=1e-10)
    last = [parts[1].numpy() for parts in jacobians]
    np.testing.assert_allclose(kernel("probe", first, readout, X, Z), last[0] @ last[1].T, rtol=1e-10)


@pytest.mark.parametrize("kind", ["probe", "tangent"])
def test_strengths_are_those_of_explicit_leave_one_out(kind):
    chosen = []
    for seed, noise in enumerate([0.0, 0.3, 1.0, 10.0, 30.0]):
        first, readout, X, y, *_ = problem(seed, noise=noise)
        target = y if kind == "probe" else y - outputs(first, readout, X)
        search = GridSearchCV(
            KernelRidge(kernel="precomputed"),
            {"alpha": STRENGTHS},
            cv=LeaveOneOut(),
            scoring="neg_mean_squared_error",
        ).fit(relative_kernel(kind, first, readout, X), target)
        assert fit(kind, first, readout, X, y).strength == search.best_params_["alpha"]
        chosen.append(search.best_params_["alpha"])
    assert len(set(chosen)) >= 3


@pytest.mark.parametrize("kind", ["probe", "tangent"])
def test_predictions_are_those_of_kernel_ridge(kind):
    first, readout, X, y, *_ = problem(2)
    X_new = sphere(np.random.default_rng(3), 50, 4)
    fitted = fit(kind, first, readout, X, y)
    start = (lambda inputs: 0.0) if kind == "probe" else (lambda inputs: outputs(first, readout, inputs))
    scale = np.trace(kernel(kind, first, readout, X, X)) / len(X)
    ridge = KernelRidge(alpha=fitted.strength * scale, kernel="precomputed")
    ridge.fit(kernel(kind, first, readout, X, X), y - start(X))
    expected = ridge.predict(kernel(kind, first, readout, X_new, X)) + start(X_new)
    np.testing.assert_allclose(predicted(fitted, X_new), expected, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fitted.loss, np.mean((predicted(fitted, X) - y) ** 2), rtol=1e-12)


@pytest.mark.parametrize("kind", ["probe", "tangent"])
def test_risk_is_the_mean_squared_error_over_the_sphere(kind):
    first, readout, X, y, directions, teacher_readout = problem(7)
    fitted = fit(kind, first, readout, X, y)
    X_new = sphere(np.random.default_rng(8), 200_000, 4)
    errors = (predicted(fitted, X_new) - outputs(directions, teacher_readout, X_new)) ** 2
    assert abs(fitted.risk(directions, teacher_readout) - errors.mean()) < 5 * errors.std() / np.sqrt(len(errors))


@pytest.mark.parametrize("kind", ["probe", "tangent"])
@pytest.mark.parametrize("n", [1, 2])
def test_too_few_samples_to_choose_are_interpolated(kind, n):
    first, readout, X, y, *_ = problem(11, n=n)
    fitted = fit(kind, first, readout, X, y)
    assert fitted.strength == STRENGTHS[0]
    np.testing.assert_allclose(predicted(fitted, X), y, rtol=1e-5)


def test_a_network_without_an_active_unit_is_refused():
    _, readout, X, y, *_ = problem()
    with pytest.raises(ValueError, match="no unit of the network is active on any sample"):
        fit("probe", np.zeros((30, 4)), readout, X, y)
