"""Scores that predict transfer against densities, integrals, determinants and loops that share no formula with them."""

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import multivariate_normal, norm, pearsonr, spearmanr
from sklearn.covariance import LedoitWolf

from carryover.measures.transfer_scores import discretise, gbc, h_score, leep, logme, nce, parc, transrate
from toy.refusal import refused

LABELS = np.array([3, 7, 7, 0, 3, 7, 0, 3, 7, 7, 0, 3, 7, 0])  # neither numbered from 0 nor of equal size
ONE_HOT = np.eye(8)[LABELS][:, [0, 3, 7]]


def drawn(columns, seed=0):
    """Features of the samples, correlated with each other and with the classes."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(LABELS), columns)) @ rng.standard_normal((columns, columns)) + LABELS[:, None] / 4


@pytest.mark.parametrize("F", [np.hstack([drawn(columns), np.ones((14, 1))]) for columns in (4, 30)])
def test_logme_is_the_largest_density_of_the_targets_under_the_model(F):
    def cost(logs, target):
        covariance = np.exp(logs[0]) * F @ F.T + np.exp(logs[1]) * np.eye(len(F))
        return -multivariate_normal.logpdf(target, cov=covariance) / len(F)

    best = [min(minimize(cost, [s, -2], y, "Nelder-Mead", tol=1e-9).fun for s in (-8, -4, 0)) for y in ONE_HOT.T]
    assert logme(F, ONE_HOT) == pytest.approx(-np.mean(best), abs=1e-6)
    assert np.isfinite([logme(0 * F, LABELS), logme(F, F[:, 0])]).all()


def test_h_score_is_the_trace_of_covariances():
    F = drawn(4)
    between = np.mean([np.outer(d, d) for d in (F[label == LABELS].mean(0) - F.mean(0) for label in LABELS)], axis=0)
    assert h_score(F, LABELS, shrunk=False) == pytest.approx(np.trace(np.linalg.pinv(np.cov(F.T, ddof=0)) @ between))
    assert h_score(drawn(30), LABELS, shrunk=False) == pytest.approx(2)
    shrunk = LedoitWolf().fit(F)
    trace = np.trace(np.linalg.solve(shrunk.covariance_, between))
    assert h_score(F, LABELS) == pytest.approx((1 - shrunk.shrinkage_) * trace) != pytest.approx(trace)


@pytest.mark.parametrize(("columns", "options"), [(4, {}), (30, {"eps": 0.01})])
def test_transrate_is_the_difference_of_determinants(columns, options):
    F = drawn(columns)
    kernel = (F - F.mean(0)) @ (F - F.mean(0)).T / np.trace(np.cov(F.T, ddof=0)) / options.get("eps", 1e-4)
    rows = [LABELS >= 0, *(label == LABELS for label in LABELS)]
    whole, *parts = (np.linalg.slogdet(np.eye(sum(some)) + kernel[some][:, some] / sum(some))[1] / 2 for some in rows)
    assert transrate(100 * F + 7, LABELS, **options) == pytest.approx(whole - np.mean(parts))


def test_gbc_is_the_overlap_of_densities():
    features = drawn(1)
    p = {label: norm(*norm.fit(features[label == LABELS])).pdf for label in (0, 3, 7)}
    overlaps = [quad(lambda x, i=i, j=j: np.sqrt(p[i](x) * p[j](x)), -30, 30)[0] for i, j in permutations(p, 2)]
    assert gbc(features, LABELS) == pytest.approx(-sum(overlaps))
    twice_and_constant = np.hstack([features, features, 0 * features])
    assert gbc(twice_and_constant, LABELS) == pytest.approx(-sum(np.square(overlaps)))


def test_parc_is_the_correlation_of_dissimilarities():
    F, numbers = drawn(4), drawn(1, seed=1)[:, 0]
    pairs = list(combinations(range(len(F)), 2))
    of_features = [1 - pearsonr(F[i], F[j]).statistic for i, j in pairs]
    of_classes = [LABELS[i] != LABELS[j] for i, j in pairs]  # for one-hot rows have the correlation 1 or -1/2
    assert parc(F, ONE_HOT) == pytest.approx(spearmanr(of_features, of_classes).statistic)
    apart = [abs(numbers[i] - numbers[j]) for i, j in pairs]
    assert parc(F, numbers) == pytest.approx(spearmanr(of_features, apart).statistic)


def test_leep_and_nce_are_conditional_probabilities():
    theta, logs, entropies = np.random.default_rng(0).dirichlet(np.full(4, 0.3), len(LABELS)), [], []
    sources = theta.argmax(1)
    for i, label in enumerate(LABELS):
        shares = [sum(theta[label == LABELS, z]) / sum(theta[:, z]) for z in range(4)]
        logs.append(np.log(sum(share * theta[i, z] for z, share in enumerate(shares))))
        alike = [other for other, source in zip(LABELS, sources, strict=True) if source == sources[i]]
        entropies.append(-np.log(alike.count(label) / len(alike)))
    assert leep(theta, LABELS) == pytest.approx(np.mean(logs))
    assert nce(sources, LABELS) == pytest.approx(-np.mean(entropies))
    assert leep(np.eye(9)[sources], LABELS) == pytest.approx(nce(sources, LABELS))


def test_numbers_become_classes_of_equal_size():
    numbers = np.random.default_rng(0).standard_normal(23)
    parts = [numbers[discretise(numbers, bins=4) == k] for k in range(4)]
    assert sorted(map(len, parts)) == [5, 6, 6, 6]
    assert all(low.max() < high.min() for low, high in pairwise(parts))


F, P = drawn(3), np.full((14, 2), 0.5)
BAD = [
    (logme, (F, LABELS[:-1]), "targets must be numbers, a row for each sample, got int64 of shape (13,)"),
    (logme, (F, np.eye(8)[LABELS]), "targets must vary between samples"),
    (h_score, (F * np.nan, LABELS), "features must be finite"),
    (transrate, (F, 0 * LABELS), "labels must be of two classes or more"),
    (gbc, (0 * F, LABELS), "features must vary between samples"),
    (parc, (P, LABELS), "features and targets must each differ more between some pairs of samples than between others"),
    (leep, (2 * P, LABELS), "probabilities must not be negative and must have the sum 1 for each sample"),
    (nce, (LABELS[1:], LABELS), "source_labels must be 14 whole numbers, got int64 of shape (13,)"),
    (discretise, (LABELS, 15), "targets must be one column, and bins from 2 to its 14 samples, got 15"),
]


@pytest.mark.parametrize(("score", "arguments", "message"), BAD)
def test_input_that_does_not_fit_is_refused(score, arguments, message):
    assert refused(score, *arguments) == message
