"""Layers of convolutional networks: PyTorch's, of which several of equal shape can be one.

A layer whose weights have one more axis, the first, is that many layers side by side: images (n, C, H, W) and features
(n, C) are then those of the first network, of the second, …, in one array (n, R C, …), and each network uses its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Conv2d(nn.Conv2d):
    """A convolution; of several, a kernel as large as the image is a matrix product."""

    def forward(self, images: Tensor) -> Tensor:
        weight, bias, stride, groups = self.weight, self.bias, self.stride, self.groups
        if weight.ndim == 5:
            covers_image = self.padding == (0, 0) and images.shape[2:] == weight.shape[3:]
            if covers_image and bias is None and groups == 1:
                return _side_by_side(images.flatten(1), weight.flatten(2))[:, :, None, None]
            groups *= len(weight)
            weight, bias = weight.flatten(0, 1), None if bias is None else bias.flatten()
        if self.padding == (0, 0) and weight.shape[2:] == (1, 1) and stride != (1, 1):
            # The stride is applied to the images: with fewer than eight channels, stored last, the gradient of strided
            # 1 × 1 kernels writes past its memory on AVX2 (oneDNN 3.12).
            images, stride = images[:, :, :: stride[0], :: stride[1]], (1, 1)
        return F.conv2d(images, weight, bias, stride, self.padding, groups=groups)


class BatchNorm2d(nn.BatchNorm2d):
    """Normalisation over a batch."""

    def forward(self, images: Tensor) -> Tensor:
        """Normalised images, (n, C, H, W) of one network, or (n, R C, H, W) of R networks whose weights are (R, C)."""
        if self.weight.ndim == 1:
            return super().forward(images)  # this alone takes the momentum None, a mean over all batches
        # All networks' channels are normalised at once. The views let PyTorch update the running statistics in place.
        if self.training:
            cast(Tensor, self.num_batches_tracked).add_(1)
        running = cast(Tensor, self.running_mean).view(-1), cast(Tensor, self.running_var).view(-1)
        affine = self.weight.flatten(), self.bias.flatten()
        return F.batch_norm(images, *running, *affine, self.training, cast(float, self.momentum), self.eps)


class Linear(nn.Linear):
    """A linear layer."""

    def forward(self, features: Tensor) -> Tensor:
        if self.weight.ndim == 2:
            return super().forward(features)
        return _side_by_side(features, self.weight) + self.bias.flatten()


class Dropout(nn.Module):
    """Drops half of its units in training: as `kept` says, (n, units) of 0 and 2, or drawn by PyTorch where it is None.

    With units of the caller's choice a network trains in the same way alone and in an ensemble, and on any device.
    """

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units
        self.kept: Tensor | None = None

    def forward(self, features: Tensor) -> Tensor:
        if not self.training:
            return features
        return F.dropout(features) if self.kept is None else features * self.kept


def _side_by_side(features: Tensor, weights: Tensor) -> Tensor:
    """(n, R O): features (n, R I) times weights (R, O, I)."""
    by_network = features.view(len(features), len(weights), -1).transpose(0, 1)
    # With the weights first, their gradient has their memory layout.
    return torch.bmm(weights, by_network.transpose(1, 2)).permute(2, 0, 1).flatten(1)


@contextmanager
def renewing_statistics(network: nn.Module) -> Iterator[None]:
    """A context in which one forward pass sets the running statistics of normalisations to those of its batch."""
    # Only normalisations are in training mode (`train()` returns the layer), so that dropout is off. With momentum 1
    # the batch replaces the running statistics.
    network.eval()
    momenta = {layer.train(): layer.momentum for layer in network.modules() if isinstance(layer, nn.BatchNorm2d)}
    for layer in momenta:
        layer.momentum = 1.0
    with torch.no_grad():
        yield
    for layer, momentum in momenta.items():
        layer.momentum = momentum
    network.eval()


@torch.no_grad()
def crop_kernels(network: nn.Module, shape: tuple[int, ...]) -> dict[str, tuple[slice, slice]]:
    """Crop kernels to the rows and columns that ever meet an image (C, H, W), not only padding.

    On an image of 1 × 1 pixels a kernel of 3 × 3 is its centre alone. The padding and kernel size of the convolutions
    change; the caller crops their weights as returned: {name of a weight: (rows, columns)}, of cropped kernels only.
    """
    # Layers of a derived class pad by themselves, so their kernels are not cropped.
    convolutions = {name: layer for name, layer in network.named_modules() if type(layer) is Conv2d}

    sizes: dict[nn.Module, torch.Size] = {}

    def note_size(layer, inputs):
        sizes[layer] = inputs[0].shape[2:]

    hooks = [layer.register_forward_pre_hook(note_size) for layer in convolutions.values()]
    network.eval()(torch.zeros(1, *shape))
    for hook in hooks:
        hook.remove()
    cropped = {}
    for name, layer in convolutions.items():
        axes = zip(sizes[layer], layer.kernel_size, layer.stride, layer.padding, strict=True)
        (rows, above), (columns, left) = (_meeting_image(*axis) for axis in axes)  # type: ignore[arg-type]
        kernel = rows.stop - rows.start, columns.stop - columns.start
        if kernel != layer.kernel_size:
            layer.padding, layer.kernel_size = (above, left), kernel
            cropped[f"{name}.weight"] = rows, columns
    return cropped


def _meeting_image(size: int, kernel: int, stride: int, padding: int) -> tuple[slice, int]:
    """Crop a kernel along one axis to the elements that meet the image, not only its padding: (slice of these elements,
    padding of the cropped kernel). `size` is that of the image, `kernel` that of the kernel, both in pixels."""
    outputs = (size + 2 * padding - kernel) // stride + 1
    # Element k of the kernel lies on pixel at · stride + k − padding at output `at`.
    met = [k for k in range(kernel) if any(0 <= at * stride + k - padding < size for at in range(outputs))]
    cropped, pad = met[-1] + 1 - met[0], padding - met[0]
    if pad < 0 or (size + 2 * pad - cropped) // stride + 1 != outputs:
        return slice(0, kernel), padding  # the two sides would need different paddings: nothing is cropped
    return slice(met[0], met[-1] + 1), pad
