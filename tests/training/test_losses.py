import mpmath
import numpy as np
import pytest
import torch

from carryover.training.losses import LOSSES

OUTPUTS = torch.tensor([-900.0, -40.0, -3.0, -0.5, 0.0, 1e-9, 0.7, 5.0, 40.0, 600.0], dtype=torch.float64)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_pull_is_minus_the_derivative_of_the_value(name, label):
    f, y = OUTPUTS.clone().requires_grad_(), torch.full_like(OUTPUTS, label)
    loss = LOSSES[name]
    loss.value(f, y).sum().backward()
    np.testing.assert_allclose(loss.negative_gradient(OUTPUTS, y).numpy(), -f.grad.numpy(), rtol=1e-13, atol=0)


def test_squared_is_torchs_mean_squared_error():
    f, y = torch.randn(2, 5, 7, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = torch.nn.functional.mse_loss(f, y)
    torch.testing.assert_close(LOSSES["squared"].value(f, y).mean(), expected, rtol=1e-14, atol=0)


@pytest.mark.parametrize("label", [-1, 1])
def test_cross_entropy_is_precise_at_any_margin(label):
    loss, y = LOSSES["cross_entropy"], torch.full_like(OUTPUTS, label)
    with mpmath.workdps(600):
        value = [float(mpmath.log(1 + mpmath.exp(-label * f))) for f in map(mpmath.mpf, OUTPUTS.tolist())]
        expected = [float(label / (1 + mpmath.exp(label * f))) for f in map(mpmath.mpf, OUTPUTS.tolist())]
    np.testing.assert_allclose(loss.value(OUTPUTS, y), value, rtol=1e-14, atol=0)
    np.testing.assert_allclose(loss.negative_gradient(OUTPUTS, y), expected, rtol=1e-14, atol=0)


def test_cross_entropy_is_that_of_a_two_class_softmax():
    f = OUTPUTS[1:-1]
    logits = torch.stack([torch.zeros_like(f), f], dim=1)
    for label in (-1, 1):
        expected = torch.nn.functional.cross_entropy(logits, torch.full(f.shape, (label + 1) // 2), reduction="none")
        value = LOSSES["cross_entropy"].value(f, torch.full_like(f, label))
        # torch's own softmax loses what is small beside 1
        torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-15)
