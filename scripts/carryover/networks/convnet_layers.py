"""Layers of the convolutional networks: PyTorch's, but for who draws their numbers and what tiny images spare."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Conv2d(nn.Conv2d):
    """A convolution that draws no weights; one place, of a kernel as large as the image, is a matrix product."""

    def reset_parameters(self) -> None:
        """Whoever builds the network draws its weights, from a generator."""

    def forward(self, images: Tensor) -> Tensor:
        if self.padding == (0, 0) and images.shape[2:] == self.weight.shape[2:]:
            return F.linear(images.flatten(1), self.weight.flatten(1), self.bias)[:, :, None, None]
        return super().forward(images)


class Linear(nn.Linear):
    """A linear layer that draws no weights."""

    def reset_parameters(self) -> None:
        """Whoever builds the network draws its weights, from a generator."""


class Dropout(nn.Module):
    """Drops half of its units in training: as `kept` says, (n, units) of 0 and 2, or drawn by PyTorch where it is None.

    With units of the caller's choice a network trains alike alone and beside others, and on any device.
    """

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.kept: Tensor | None = None

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return features
        return F.dropout(features) if self.kept is None else features * self.kept


def dropouts(network: nn.Module) -> list[Dropout]:
    """The layers of a network that drop units at random."""
    return [module for module in network.modules() if isinstance(module, Dropout)]


def crop_kernels(network: nn.Module, shape: tuple[int, ...]) -> dict[str, tuple[slice, slice]]:
    """Change the padding of convolutions to that of kernels without what only ever meets padding, for images (C, H, W).

    A kernel of 3 × 3 places on an image of one is its middle alone. The network, on the device "meta", then asks for
    the smaller kernels: {name of a weight: (rows, columns) that are left}, of those that become smaller.
    """
    sizes: dict[str, torch.Size] = {}
    convolutions = {name: layer for name, layer in network.named_modules() if isinstance(layer, Conv2d)}

    def noting(name):
        return lambda layer, inputs: sizes.update({name: inputs[0].shape[2:]})

    hooks = [layer.register_forward_pre_hook(noting(name)) for name, layer in convolutions.items()]
    network.eval()(torch.empty(1, *shape, device="meta"))
    for hook in hooks:
        hook.remove()
    cropped = {}
    for name, layer in convolutions.items():
        axes = zip(sizes[name], layer.kernel_size, layer.stride, layer.padding, strict=True)
        (rows, above), (columns, left) = (_met(*axis) for axis in axes)
        kernel = rows.stop - rows.start, columns.stop - columns.start
        if kernel != layer.kernel_size:
            layer.padding, layer.kernel_size = (above, left), kernel
            cropped[f"{name}.weight"] = rows, columns
    return cropped


def _met(size: int, kernel: int, stride: int, padding: int) -> tuple[slice, int]:
    """(places of a kernel along one axis that meet an image of this size, padding for these alone)."""
    outputs = (size + 2 * padding - kernel) // stride + 1
    met = [k for k in range(kernel) if any(0 <= at * stride + k - padding < size for at in range(outputs))]
    left, pad = met[-1] + 1 - met[0], padding - met[0]
    if pad < 0 or (size + 2 * pad - left) // stride + 1 != outputs:
        return slice(0, kernel), padding  # the sides would need different paddings
    return slice(met[0], met[-1] + 1), pad
