"""Layers of several networks side by side, kernels without what meets padding alone, and units that are dropped."""

import copy

import numpy as np
import pytest
import torch
from torch.func import functional_call
from torch.nn import functional as F

from carryover.networks.convnet import NETWORKS
from carryover.networks.convnet_layers import Conv2d, Dropout, crop_kernels


@pytest.mark.portable
@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (1, 2), (3, 1), (3, 2)])
@pytest.mark.parametrize("runs", [1, 3])
def test_few_channels_that_come_last_have_the_gradients_of_patches(runs, kernel, stride):
    """Some libraries take other code for fewer channels than their registers hold, and that code is tried less."""
    rng = torch.Generator().manual_seed(0)
    for inputs in range(1, 10):
        layer = Conv2d(inputs, 4, kernel, stride, kernel // 2, bias=False)
        images = torch.randn(5, runs * inputs, 8, 8, generator=rng)
        weight = torch.randn(runs, 4, inputs, kernel, kernel, generator=rng)
        last = images.contiguous(memory_format=torch.channels_last).requires_grad_()
        own = weight.clone().requires_grad_()
        found = functional_call(layer, {"weight": own}, last)
        wanted = torch.randn(found.shape, generator=rng).contiguous(memory_format=torch.channels_last)
        gradients = torch.autograd.grad(found, (last, own), wanted)
        exact, of_exact = images.double().requires_grad_(), weight.double().requires_grad_()
        patches = F.unfold(exact, kernel, padding=kernel // 2, stride=stride).view(5, runs, inputs * kernel**2, -1)
        expected = torch.einsum("rok,nrkp->nrop", of_exact.flatten(2), patches).view(found.shape)
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)
        for gradient, sure in zip(
            gradients, torch.autograd.grad(expected, (exact, of_exact), wanted.double()), strict=True
        ):
            torch.testing.assert_close(gradient.double(), sure, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("pixels", "stem", "kernels"), [(8, "small", 4), (32, "imagenet", 4), (16, "small", 0)])
def test_what_meets_padding_alone_can_be_left_out(pixels, stem, kernels):
    """Where layer4 has one place: of its first kernel, on 2 × 2 with stride 2, four places are left, of three one."""
    network = NETWORKS["resnet18"](torch.Generator().manual_seed(1), 3, 2, stem, 1)
    cropped = crop_kernels(copy.deepcopy(network), (1, pixels, pixels))
    sides = [rows.stop - rows.start for rows, _ in cropped.values()]
    assert sorted(sides) == [1, 1, 1, 2][:kernels]
    network.train()(torch.randn(4, 1, pixels, pixels)).square().sum().backward()
    for name, parameter in network.named_parameters():
        if name in cropped:
            rest = parameter.grad.clone()
            rest[..., cropped[name][0], cropped[name][1]] = 0
            assert not rest.any()
            assert parameter.grad.any()


def test_dropped_units_are_the_callers_or_half_of_them():
    layer, features = Dropout(1000), torch.ones(4, 1000)
    assert layer.eval()(features) is features
    drawn = layer.train()(features)
    assert drawn.unique().tolist() == [0, 2]
    assert abs(drawn.mean().item() - 1) < 4 / np.sqrt(drawn.numel())
    layer.kept = 2 * (torch.arange(4000).view(4, 1000) % 2).float()
    assert torch.equal(layer(features), layer.kept)
