"""The arc-cosine kernel against quadrature in the plane and high precision."""

import mpmath
import numpy as np
import pytest
import torch
from relu_averages import batch, kinks, pair_apart, plane_mean

from carryover.theory.kernels import relu_kernel, relu_risk, tangent_risk


def precise_kernel(w, v):
    w, v = ([mpmath.mpf(float(x)) for x in vector] for vector in (w, v))
    norms = mpmath.sqrt(mpmath.fdot(w, w) * mpmath.fdot(v, v))
    u = mpmath.fdot(w, v) / norms
    return norms / (2 * mpmath.pi) * (mpmath.sqrt(abs(1 - u * u)) + u * (mpmath.pi - mpmath.acos(u).real))


def test_kernel_in_the_plane_by_quadrature():
    rng = np.random.default_rng(1)
    W, V = rng.standard_normal((4, 2)), rng.standard_normal((3, 2))
    for i, w in enumerate(W):
        for j, v in enumerate(V):
            expected = plane_mean(lambda x, w=w, v=v: max(w @ x, 0) * max(v @ x, 0), kinks(W, V))
            np.testing.assert_allclose(relu_kernel(W, V)[i, j], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("angle", [1e-12, 1e-8, 1e-6, 1e-4, 1e-2, 1.0])
def test_kernel_beside_parallel_and_opposite(angle):
    rng = np.random.default_rng(2)
    with mpmath.workdps(60):
        for w, v in (pair_apart(rng, angle) for _ in range(20)):
            W, V = 3 * w[None], 0.2 * v[None]
            exact = precise_kernel(W[0], V[0])
            assert abs(relu_kernel(W, V)[0, 0] - exact) < 2e-15 * exact
            assert abs(relu_kernel(W, -V)[0, 0] - precise_kernel(W[0], -V[0])) < 2e-16 * max(angle, 1e-8)
            assert relu_kernel(W, -V)[0, 0] >= 0


def test_torch_gives_what_numpy_gives():
    weights, teacher = batch(np.random.default_rng(14))
    arguments = {relu_kernel: (weights[0], teacher[0]), relu_risk: (*weights[:2], *teacher)}
    arguments[tangent_risk] = (*weights, *teacher)
    for function, arrays in arguments.items():
        single = [array.astype(np.float32) for array in arrays]
        tensors = [torch.tensor(array, requires_grad=True) for array in single]
        for mixed in (tensors, [tensors[0], *single[1:]]):
            result = function(*mixed)
            assert isinstance(result, torch.Tensor)
            assert (result.dtype, result.device) == (torch.float64, tensors[0].device)
            assert not result.requires_grad
            np.testing.assert_allclose(result.numpy(), function(*single), rtol=1e-12, atol=1e-14)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_results_stay_on_the_device():
    weights, teacher = batch(np.random.default_rng(15))
    result = relu_risk(*(torch.tensor(array, device="cuda") for array in (*weights[:2], *teacher)))
    assert result.device.type == "cuda"
    np.testing.assert_allclose(result.cpu().numpy(), relu_risk(*weights[:2], *teacher), rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (relu_kernel, [(2, 3, 4), (3, 3, 4)]),
        (relu_risk, [(3, 4), (2,), (2, 4), (2,)]),
        (relu_risk, [(5, 3, 4), (5, 3), (6, 2, 4), (6, 2)]),
        (tangent_risk, [(3, 4), (3,), (2, 4), (3,), (2, 4), (2,)]),
    ],
)
def test_shapes_that_do_not_fit(function, shapes):
    with pytest.raises(ValueError):  # noqa: PT011
        function(*map(np.ones, shapes))
