"""Gradients of a random readout, joined or added up in few sums, against closed forms."""

import numpy as np
import torch

from carryover.measures import gradient_sketches
from carryover.measures.gradient_sketches import Sums, readout_gradients

RNG = np.random.default_rng(0)
INPUTS = RNG.standard_normal((6, 40)).astype("float32")


def gradients(seed=0):
    """At each input x, of the features W x with W (30, 40), besides a parameter that they do not depend on."""
    weights = torch.nn.Parameter(torch.as_tensor(RNG.standard_normal((30, 40)).astype("float32")))
    parameters = [torch.nn.Parameter(torch.ones(3)), weights]
    return [readout_gradients(weights @ torch.as_tensor(x), parameters, seed) for x in INPUTS]


def test_the_gradient_of_a_linear_network_is_the_readout_times_the_input():
    """(W does not enter: ∂(v·Wx)/∂W = v xᵀ, of rank one, and the products are |v|² x·x'.)"""
    found = gradients()
    assert all([*one] == [1] for one in found)
    matrices = [one[1].reshape(30, 40).numpy() for one in found]
    readouts = np.stack([matrix @ x / (x @ x) for matrix, x in zip(matrices, INPUTS, strict=True)])
    np.testing.assert_allclose(readouts, readouts[:1].repeat(6, 0), rtol=1e-4, atol=1e-7)
    assert abs(readouts[0]).max() <= 30**-0.5  # as PyTorch draws a linear layer
    joined = np.stack([Sums(0)(one) for one in found])
    np.testing.assert_allclose(joined @ joined.T, (readouts[0] @ readouts[0]) * INPUTS @ INPUTS.T, rtol=1e-4)
    assert not np.allclose(gradients(seed=1)[0][1], found[0][1])


def test_products_of_sums_are_unbiased_and_as_near_as_they_say(monkeypatch):
    exact = np.stack([Sums(0)(one) for one in gradients()])
    products, lengths = exact @ exact.T, np.linalg.norm(exact, axis=1)
    monkeypatch.setattr(gradient_sketches, "SKETCH", 128)
    drawn = []
    for seed in range(300):
        sums = Sums(seed)
        sketched = np.stack([sums(one) for one in gradients()])
        assert sketched.shape == (6, 128)
        drawn.append((sketched @ sketched.T - products) / np.outer(lengths, lengths))
    assert np.abs(np.mean(drawn, axis=0)).max() < 5 * np.sqrt(2 / 128 / 300)
    assert np.std(drawn, axis=0).max() < 1.15 * np.sqrt(2 / 128)


def test_what_depends_on_no_parameter_has_no_gradient():
    assert readout_gradients(torch.ones(4), [torch.nn.Parameter(torch.ones(2))], 0) == {}
    assert Sums(0)({}).tolist() == [0.0]
