"""Formulas refuse what is not finite, out of its range, or of a shape that does not fit, and say so by name."""

import numpy as np
import pytest

from carryover.theory import discrepancy, kernels, norms, penalty, transfer
from carryover.theory import linear_teachers as lt
from carryover.theory.interpolation import interpolation_risk

ONES = np.ones


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: norms.q_norm([np.nan], 1, 1), "beta must be finite"),
        (lambda: norms.flow_penalty([1.0], 1, 1, np.nan, 1), "w1_minus must be finite"),
        (lambda: norms.l1_norm(2.0), "beta must be finite and have 1 axes"),
        (lambda: penalty.relu_penalty(np.nan, 1, 0, 0), "m must be finite"),
        (lambda: penalty.relu_penalty_exponent(1, [1, -0.1], 0, 0), r"m0 must lie in \[0, inf\]"),
        (lambda: penalty.relu_penalty([1, 2], [1, 2, 3], 0, 0), r"shapes must fit and broadcast.*m0 \(3,\)"),
        (lambda: penalty.teacher_penalty(ONES((2, 3)), [[1.0, 0.0]], [1.0]), r"got \(2, 3\), \(1, 2\) and \(1,\)"),
        (lambda: transfer.scratch_risk(0, 0.1), "gamma must be finite and positive"),
        (lambda: transfer.scratch_risk([1, 2], [1, 2, 3]), r"the shapes must fit.*gamma \(2,\), sigma \(3,\)"),
        (lambda: transfer.finetune_transferability(0.5, 1.0, 0.1, 0), "depth must"),
        (lambda: transfer.finetune_transferability(0.5, 1.0, 0.1, 1.5), "depth must"),
        (lambda: discrepancy.kl_divergence([1.0], [1.0, 0.0], 1), "the shapes must fit"),
        (lambda: discrepancy.distant_target_scale(1, 1, -1), r"delta must lie in \[0, inf\]"),
        (lambda: lt.covariance_bound(ONES(4), [0.5, 2.0, 0.0, 1.0], 5, 4, 1), "rank of cov, 3"),
        (lambda: lt.estimation_error_bound([[1.0, 0.5]], 5, 1), r"cov must be \(d,\)"),
        (lambda: lt.deep_gaussian_bound(np.zeros(2), ONES(2), 1, 0.1), "must not be zero"),
        (lambda: kernels.ntk_bound(2 * np.eye(2), ONES(2)), "rows of X must have norm 1"),
        (lambda: kernels.ntk_bound([[np.nan, 1.0]], ONES(1)), "X must be finite"),
        (lambda: kernels.rkhs_residual(ONES(3), ONES((3, 4)), np.full((2, 4), np.nan)), "must be finite"),
        (lambda: kernels.rkhs_residual(ONES(3), ONES((3, 4)), ONES((2, 4)), cutoff=0.0), "must lie between 0 and 1"),
        (lambda: kernels.relu_kernel(ONES((2, 3, 4)), ONES((3, 3, 4))), "mismatch"),
        (lambda: kernels.relu_risk(ONES((3, 4)), ONES(2), ONES((2, 4)), ONES(2)), "broadcast"),
        (
            lambda: interpolation_risk(300, [5, 295], [0.4, 0.0], 1.0, 1.0),
            "below the number of dimensions",
        ),
        (lambda: interpolation_risk(np.nan, [5, 295], [0.4, 0.0], 1.0, 1.0), "below the number of dimensions"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
