"""Distances between linear tasks against densities, linear programs and closed forms."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal

from carryover.theory.discrepancy import dudley_metric, kl_divergence, wasserstein1

SOURCE = np.array([1.0, 0.0])


def target(angle, norm=1.0):
    return norm * np.array([np.cos(angle), np.sin(angle)])


def joint_samples(beta_s, beta_t, sigma, samples, seed):
    """What wasserstein1 and dudley_metric draw, for tasks in two dimensions with β_s along the first axis."""
    rng = np.random.default_rng(seed)
    x, noise = rng.standard_normal((samples, 2)), rng.standard_normal((samples, 1))
    return [np.hstack([x, x @ beta[:, None] + sigma * noise]) for beta in (beta_s, beta_t)]


def transport_program(distances):
    """Optimal transport between uniform measures as a linear program over plans."""
    n = len(distances)
    rows, columns = np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))
    return linprog(distances.ravel(), A_eq=np.vstack([rows, columns]), b_eq=np.full(2 * n, 1 / n)).fun


def dudley_program(source, other):
    """The supremum over h on all points, L and M: |h_i − h_j| ≤ L d_ij, |h_i| ≤ M, L + M ≤ 1."""
    n, points = len(source), np.vstack([source, other])
    i, j = np.nonzero(~np.eye(2 * n, dtype=bool))
    differences = np.eye(2 * n)[i] - np.eye(2 * n)[j]
    slopes = np.column_stack([differences, -cdist(points, points)[i, j], np.zeros(len(i))])
    heights = np.column_stack(
        [np.vstack([np.eye(2 * n), -np.eye(2 * n)]), np.zeros((4 * n, 1)), np.full((4 * n, 1), -1)]
    )
    norm = np.append(np.zeros(2 * n), [1, 1])
    gain = np.repeat([1 / n, -1 / n, 0], [n, n, 2])
    limits = np.concatenate([np.zeros(len(i) + 4 * n), [1]])
    bounds = [(None, None)] * (2 * n) + [(0, None)] * 2
    return -linprog(-gain, A_ub=np.vstack([slopes, heights, norm]), b_ub=limits, bounds=bounds).fun


def test_kl_divergence_is_the_mean_log_ratio_of_the_densities():
    rng, sigma = np.random.default_rng(0), 0.6
    beta_s, beta_t = rng.standard_normal((2, 3))
    x = rng.standard_normal((100_000, 3))
    points = np.column_stack([x, x @ beta_s + sigma * rng.standard_normal(len(x))])
    densities = []
    for beta in (beta_s, beta_t):
        joint = np.block([[np.eye(3), beta[:, None]], [beta, beta @ beta + sigma**2]])  # covariance of (x, y)
        densities.append(multivariate_normal(np.zeros(4), joint).logpdf(points))
    ratios = densities[0] - densities[1]
    error = ratios.std() / np.sqrt(len(ratios))
    assert abs(ratios.mean() - kl_divergence(beta_s, beta_t, sigma)) < 4 * error
    np.testing.assert_array_equal(kl_divergence(SOURCE, [[1, 0], [0, 1]], [[0], [1]]), [[0, np.inf], [0, 1]])


@pytest.mark.parametrize("angle", [0.4, 2.0])
def test_wasserstein_is_the_transport_program(angle):
    samples = joint_samples(SOURCE, target(angle), 0.3, 15, 7)
    found = wasserstein1(SOURCE, target(angle), 0.3, 15, np.random.default_rng(7))
    assert found == pytest.approx(transport_program(cdist(*samples)), rel=1e-9)


@pytest.mark.parametrize(("angle", "norm"), [(0.4, 1.0), (2.0, 1.0), (np.pi, 1.0), (1.0, 30.0)])
def test_dudley_metric_is_the_program_over_functions(angle, norm):
    samples = joint_samples(SOURCE, target(angle, norm), 0.3, 15, 8)
    found = dudley_metric(SOURCE, target(angle, norm), 0.3, 15, np.random.default_rng(8))
    assert found == pytest.approx(dudley_program(*samples), rel=1e-4)
