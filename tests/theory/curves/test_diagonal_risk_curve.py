"""The curve has the tasks and starts of diagonal networks: it agrees with networks that were pretrained and solved."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.theory.curves.diagonal_risk import compute
from carryover.training.exact import diagonal_flow_limit


def networks(overlap, n, readout_alone, draws=12):
    """log₁₀ of the risks of ideal pretrained networks of the default size, solved on drawn data."""
    D, k, small = 200, 8, 1e-3
    shared = int(overlap * k)
    target, first = np.zeros(D), np.full(D, small)
    target[:k] = k**-0.5
    first[k - shared : 2 * k - shared] = np.sqrt(k**-0.5)  # the path that has learned
    X = np.random.default_rng(7).standard_normal((draws, n, D))
    other = np.full(D, small)
    if readout_alone:
        squares = first**2 + np.where(first == small, small**2, 0.0)
        beta = squares * np.stack([x.T @ np.linalg.solve(x * squares @ x.T, x @ target) for x in X])
    else:
        beta = diagonal_flow_limit(X, X @ target, first, other, other, other)
    return np.log10(((beta - target) ** 2).sum(-1))


@pytest.mark.parametrize("overlap", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("protocol", "samples"), [("finetuning", 16), ("finetuning", 32), ("finetuning_probe", 32)])
def test_pretrained_networks_have_these_risks(overlap, protocol, samples):
    found = networks(overlap, samples, protocol == "finetuning_probe")
    at = compute(model_of("theory.curves", "diagonal_risk")(overlap=(overlap,), samples=(samples,)))[protocol].item()
    if found.mean() < -10:  # both are at rounding: a readout on exactly the target's features
        assert at < 1e-7
    else:
        assert abs(found.mean() - np.log10(at)) < max(found.std(), 0.05)
