"""Features are fate, eq 19 and appendix B.1 to B.3: D_l = W_lᵀW_l − W_{l+1}W_{l+1}ᵀ, which gradient flow conserves."""

from itertools import pairwise

import numpy as np
import pytest

from carryover.networks.deep_linear import Weights, rank_one_network
from carryover.training.deep_linear import gradient_descent
from carryover.training.linear_flow import Factored

D = 6


def differences(weights):
    """D_1 … D_{L−1} of one network."""
    layers = [*weights.hidden, weights.readout[:, None]]
    return [one.T @ one - other @ other.T for one, other in pairwise(layers)]


def orthogonal(rng):
    return np.linalg.qr(rng.standard_normal((D, D)))[0]


def trained(start, time, rate=1e-3):
    """The network and its loss after descent on the population loss |β − β_s|²/2 of a unit source."""
    source = np.eye(D)[0]
    data = Factored.of(np.sqrt(D) * np.eye(D))  # D inputs whose mean square is the population's
    targets = data.targets(np.sqrt(D) * source)[None]
    one = Weights(start.hidden[None], start.readout[None])
    found = gradient_descent(
        [data], targets, np.zeros(1, int), one, learning_rate=rate, tolerance=0.0, max_steps=round(time / rate),
        risk=lambda _, beta: ((beta - source) ** 2).sum(1), precision="float64", device="cpu",
    )  # fmt: skip
    full = found.weights.full()
    return Weights(full.hidden[0], full.readout[0]), float(found.loss[0])


@pytest.mark.parametrize("seed", range(5))
def test_neither_the_papers_own_start_nor_a_balanced_one_satisfies_equation_19(seed):
    rng = np.random.default_rng(seed)
    gaussian = Weights(rng.standard_normal((1, 50, 50)), rng.standard_normal(50))
    assert np.linalg.eigvalsh(differences(gaussian)[0])[0] < 0
    for conserved in differences(rank_one_network(rng.standard_normal(50), 3)):
        np.testing.assert_allclose(conserved, 0, atol=1e-12)  # λ = 0


def test_flow_conserves_the_differences_and_converges_at_the_rate_of_equation_45():
    rng, alpha, time = np.random.default_rng(0), 0.5, 5.0
    readout = rng.standard_normal(D)
    hidden = np.stack([np.sqrt(3) * orthogonal(rng), np.sqrt(2) * orthogonal(rng)])
    start = Weights(alpha * hidden, alpha * readout / np.linalg.norm(readout))  # D_l ≥ α² λ I with λ = 1
    assert min(np.linalg.eigvalsh(one)[0] for one in differences(start)) == pytest.approx(alpha**2)
    end, loss = trained(start, time)
    for before, after in zip(differences(start), differences(end), strict=True):
        np.testing.assert_allclose(after, before, atol=2e-3)  # what finite steps leave
    before = ((start.coefficients() - np.eye(D)[0]) ** 2).sum() / 2
    assert loss < before * np.exp(-2 * alpha**4 * time)


@pytest.mark.parametrize("alpha", [1e-2, 1e-3])
def test_layers_become_of_rank_one_and_align_as_the_start_vanishes(alpha):
    rng = np.random.default_rng(1)
    start = Weights(alpha * rng.standard_normal((1, D, D)), alpha * rng.standard_normal(D))
    end, loss = trained(start, 60.0, rate=1e-2)
    assert loss < 1e-10
    left, values, right = np.linalg.svd(end.hidden[0])
    assert values[1] < 10 * alpha  # eq 47
    cosine = right[0] @ end.readout / np.linalg.norm(end.readout)
    assert 1 - cosine**2 < 100 * alpha**2  # eq 66
    assert abs(left[0, 0]) == pytest.approx(1, abs=10 * alpha)  # theorem 3.4: along the source
