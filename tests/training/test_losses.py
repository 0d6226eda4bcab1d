"""Cross-entropy at any margin against mpmath; test errors against a large test set; norms against NumPy."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carryover.training.losses import LOSSES, effective_features, group_norm, misclassification_rate

OUTPUTS = torch.tensor([-900.0, -40.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 5.0, 40.0, 600.0], dtype=torch.float64)


@pytest.mark.parametrize("label", [-1, 1])
def test_cross_entropy_is_precise_at_any_margin(label):
    loss, y = LOSSES["cross_entropy"], torch.full_like(OUTPUTS, label)
    with mpmath.workdps(600):
        value = [float(mpmath.log(1 + mpmath.exp(-label * f))) for f in map(mpmath.mpf, OUTPUTS.tolist())]
        expected = [float(label / (1 + mpmath.exp(label * f))) for f in map(mpmath.mpf, OUTPUTS.tolist())]
        curvature = [float(1 / (2 + mpmath.exp(f) + mpmath.exp(-f))) for f in map(mpmath.mpf, OUTPUTS.tolist())]
    np.testing.assert_allclose(loss.value(OUTPUTS, y), value, rtol=1e-14, atol=0)
    np.testing.assert_allclose(loss.negative_gradient(OUTPUTS, y), expected, rtol=1e-14, atol=0)
    np.testing.assert_allclose(loss.curvature(OUTPUTS, y), curvature, rtol=1e-14, atol=1e-300)


def test_misclassified_is_the_share_of_wrong_signs_of_inputs_in_all_directions():
    rng = np.random.default_rng(2)
    (beta, teacher), inputs = torch.as_tensor(rng.standard_normal((2, 3, 6))), rng.standard_normal((200_000, 6))
    share = misclassification_rate(beta, teacher).numpy()
    wrong = np.mean((inputs @ beta.numpy().T > 0) != (inputs @ teacher.numpy().T > 0), axis=0)
    assert np.all(np.abs(wrong - share) < 4 * np.sqrt(share * (1 - share) / len(inputs)))


@given(k=st.integers(1, 20), size=st.floats(1e-6, 1e6), seed=st.integers(0, 10**6))
def test_effective_features_counts_equals_and_stays_between_one_and_all(k, size, seed):
    rng = np.random.default_rng(seed)
    beta = np.zeros(20)
    beta[rng.permutation(20)[:k]] = size * rng.choice([-1, 1], k)
    assert effective_features(torch.as_tensor(beta)).item() == pytest.approx(k, rel=1e-12)
    unequal = size * rng.standard_normal(20)
    found = effective_features(torch.as_tensor(unequal)).item()
    assert 1 <= found <= 20
    share = np.abs(unequal) / np.abs(unequal).sum()  # the inverse participation ratio of these shares
    assert found == pytest.approx(1 / np.sum(share**2), rel=1e-12)


def test_norms_are_those_of_numpy():
    betas = np.random.default_rng(3).standard_normal((4, 2, 5))
    expected = [sum(np.linalg.norm(column) for column in beta.T) for beta in betas]
    np.testing.assert_allclose(group_norm(torch.as_tensor(betas)), expected)
    np.testing.assert_allclose(group_norm(torch.as_tensor(betas[:, :1])), np.linalg.norm(betas[:, 0], 1, axis=1))
