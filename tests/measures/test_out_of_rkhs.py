"""The target's part outside the features against least squares on many samples, and features that hold the target."""

import numpy as np
import pytest

from carryover.config.parameters import model_of
from carryover.measures import out_of_rkhs
from toy.sources import drawn, networks

P = model_of("measures", "out_of_rkhs")()


def share(units, directions, readout, X):
    """Unexplained share of the target at inputs X, by least squares."""
    features, y = np.maximum(X @ units.T, 0), np.maximum(X @ directions.T, 0) @ readout
    return ((y - features @ np.linalg.lstsq(features, y)[0]) ** 2).sum() / (y**2).sum()


def test_it_is_what_least_squares_leaves_of_many_samples():
    told = drawn()
    result = out_of_rkhs.measure(networks(**told), P)
    X = np.random.default_rng(0).standard_normal((40_000, 5))
    for run in range(2):
        for name, found in (("first", "out_of_rkhs"), ("start_first", "initial_out_of_rkhs")):
            expected = share(told[name][run], told["directions"][run], told["readout"][run], X)
            assert result[found].values[run] == pytest.approx(expected, rel=0.05)


def test_the_least_risk_is_a_share_of_the_target_s_variance():
    told = drawn()
    result = out_of_rkhs.measure(networks(**told), model_of("measures", "out_of_rkhs")(cutoff=1e-3))
    X = np.random.default_rng(2).standard_normal((200_000, 5))
    for run in range(2):
        y = np.maximum(X @ told["directions"][run].T, 0) @ told["readout"][run]
        expected = result["out_of_rkhs"].values[run] * (y**2).mean() / y.var()
        assert result["least_risk"].values[run] == pytest.approx(expected, rel=0.02)
    assert (result["cutoff"] == 1e-3).all()
