"""Shares of weight against counting by brute force, and what any of them must satisfy."""

from itertools import combinations

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from carryover.config.parameters import model_of
from carryover.measures import sparsity
from carryover.measures.sparsity import auxiliary_share, top_k_variance

FIXED = settings(derandomize=True, deadline=None, max_examples=80)
SOLUTIONS = arrays(float, st.integers(1, 7), elements=st.floats(-10, 10).map(lambda v: round(v, 3))).filter(np.any)


@FIXED
@given(SOLUTIONS)
def test_the_top_k_are_the_best_k(beta):
    shares = top_k_variance(beta, len(beta))
    for k in range(1, len(beta) + 1):
        best = max(sum(beta[i] ** 2 for i in chosen) for chosen in combinations(range(len(beta)), k))
        assert shares[k - 1] == pytest.approx(best / np.sum(beta**2), rel=1e-12)


@FIXED
@given(SOLUTIONS, st.integers(0, 1000))
def test_the_auxiliary_share_splits_the_norm_in_two(beta, seed):
    auxiliary = np.random.default_rng(seed).choice([0.0, -0.3, 0.3], len(beta))
    inside = sum(b**2 for b, a in zip(beta, auxiliary, strict=True) if a != 0) ** 0.5
    share, rest = auxiliary_share(beta, auxiliary), auxiliary_share(beta, auxiliary == 0)
    assert share == pytest.approx(inside / sum(b**2 for b in beta) ** 0.5, rel=1e-9)
    assert share**2 + rest**2 == pytest.approx(1, rel=1e-12)


def test_measure_takes_the_main_readout_and_cuts_at_the_largest_k():
    named = {"long_name": "made for a test", "units": "1"}
    data = xr.Dataset(
        {
            "coefficients": (
                ("run", "output", "input"),
                [[[3.0, 0, -4, 0], [1, 1, 1, 1]], [[0, 0, 2, 1], [0, 0, 0, 0]]],
            ),
            "teacher": (("run", "input"), [[0.0, 0, 1, 0], [1, 0, 0, 1]]),
            "auxiliary_teacher": (("run", "input"), [[-0.7, 0.7, 0, 0], [0, 0.7, 0.7, 0]]),
        },
        coords={"seed": ("run", [0, 1], named), "output": ("output", ["main", "auxiliary"], named)},
    )
    measured = sparsity.measure(data, model_of("measures", "sparsity")(largest_k=3))
    np.testing.assert_allclose(measured["top_k_variance"], [[0.64, 1, 1], [0.8, 1, 1]])
    np.testing.assert_allclose(measured["top_k_variance_teacher"], [[1, 1, 1], [0.5, 1, 1]])
    np.testing.assert_allclose(measured["auxiliary_share"], [0.6, 2 / 5**0.5])
    np.testing.assert_allclose(measured["auxiliary_share_teacher"], [0, 0])
    assert measured["k"].values.tolist() == [1, 2, 3]
    assert set(measured.coords) == {"seed", "k"}
    for variable in measured.variables.values():
        assert variable.attrs["long_name"]
        assert variable.attrs["units"] == "1"
    assert sparsity.measure(data, model_of("measures", "sparsity")()).sizes["k"] == 4
