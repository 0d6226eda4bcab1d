"""Formulas refuse what is not finite or out of its range, and say so by name."""

import numpy as np
import pytest

from carryover.theory import kernels, norms, penalty, transfer
from carryover.theory import linear_teachers as lt
from carryover.theory.interpolation import interpolation_risk

ONES = np.ones


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: norms.flow_penalty([1.0], 1, 1, np.nan, 1), "w1_minus must be finite"),
        (lambda: penalty.relu_penalty_exponent(1, [1, -0.1], 0, 0), r"m0 must be finite and lie in \[0, inf\]"),
        (lambda: penalty.relu_penalty([1, 2], [1, 2, 3], 0, 0), "shape mismatch"),
        (lambda: transfer.scratch_risk(0, 0.1), "gamma must be positive"),
        (lambda: transfer.finetune_transferability(0.5, 1.0, 0.1, 1.5), "depth must be a whole number"),
        (lambda: lt.covariance_bound(ONES(4), [0.5, 2.0, 0.0, 1.0], 5, 4, 1), "rank of cov, 3"),
        (lambda: lt.gaussian_bound(ONES(2), ONES(2), 3, 0.1), "n must not exceed the 2 dimensions"),
        (lambda: lt.deep_gaussian_bound(np.zeros(2), ONES(2), 1, 0.1), "must not be zero"),
        (lambda: kernels.ntk_bound([[np.nan, 1.0]], ONES(1)), "rows must have norm 1"),
        (lambda: kernels.rkhs_residual(ONES(3), ONES((3, 4)), np.full((2, 4), np.nan)), "must be finite"),
        (lambda: interpolation_risk(np.nan, [5, 295], [0.4, 0.0], 1.0, 1.0), "below the number of dimensions"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
