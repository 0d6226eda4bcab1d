"""Risks on Gaussian inputs against pseudo-inverses, and what their draws must average to and how often they stray."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from carryover.config.parameters import model_of
from carryover.theory.curves.gaussian_bounds import compute

P = model_of("theory.curves", "gaussian_bounds")(dimension=(20, 40), draws=400)


@pytest.fixture(scope="module")
def curve():
    return compute(P)


def cells(curve):
    """(coordinates, source, target in two dimensions) of every pair of tasks."""
    for norm in curve["source_norm"].values:
        for angle in curve["angle"].values:
            theta = np.pi * angle
            yield {"source_norm": norm, "angle": angle}, np.array([norm, 0]), np.array([np.cos(theta), np.sin(theta)])


def test_one_layer_has_the_mean_risk_of_equation_10_and_strays_from_it_as_a_beta_variable_does(curve):
    """|P⊥Δ|²/|Δ|² is Beta((d − n)/2, n/2): P⊥ projects onto a uniformly random subspace."""
    for cell, source, target in cells(curve):
        square = ((target - source) ** 2).sum()
        for gamma in curve["gamma"].values:
            for d in curve["dimension"].values:
                risk = curve["risk"].sel(dimension=d, gamma=gamma, depth=1, **cell).values
                bounds = curve["one_layer"].sel(gamma=gamma, **cell)
                mean = float(bounds.sel(epsilon=0.0))
                assert mean == pytest.approx((1 - gamma) * square)
                assert abs(risk.mean() - mean) < 5 * risk.std() / 20
                share = beta((1 - gamma) * d / 2, gamma * d / 2)
                for epsilon in (0.1, 0.4):
                    often = binom(400, share.sf(float(bounds.sel(epsilon=epsilon)) / square))
                    count = (risk > float(bounds.sel(epsilon=epsilon))).sum()
                    assert often.ppf(1e-6) <= count <= often.ppf(1 - 1e-6)
