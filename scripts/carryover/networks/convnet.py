"""ResNet-18 and VGG-11, by torchvision's names and shapes, in any width and for images from 8 × 8 pixels; VGG-5, a
shallow one of the same kind; and EfficientNet-Lite0.

At width 64, with 3 channels and the stem "imagenet", parameters and buffers are those of torchvision's `resnet18` and
`vgg11`, so that published weights load by name, and the networks compute the same (He et al. 2015; Simonyan and
Zisserman 2014, configuration A). Other widths have the same layers with `width`/64 times the channels.

The stem says how much of an image is pooled away at once. "imagenet" is torchvision's. "small", for images of 32 × 32
pixels and below, leaves out the first factor of 4: in ResNet-18 the first convolution is 3 × 3 with stride 1 and no
pooling follows; in VGG-11 the first two poolings are left out and the features, as in VGG-5, are averaged over the
whole image, not brought to 7 × 7 places. Either changes the shape of one parameter (`conv1.weight`,
`classifier.0.weight`), so published weights need the stem "imagenet".
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from carryover.networks.convnet_layers import BatchNorm2d, Conv2d, Dropout, Linear

WIDTH = 64  # channels of torchvision's first convolution
EPSILON = 1e-3  # of EfficientNet's normalisations: added to variances, as in TensorFlow


class Convnet(nn.Module):
    """What all networks share. A subclass has `_build`, `stages`, and `_start_linear` for another start."""

    READOUT: ClassVar[str]  # name of the last layer, in or as the submodule that reads what the last stage gives
    SMALLEST: ClassVar[dict[str, int]] = {"imagenet": 8, "small": 8}  # {stem: pixels on the shorter side}
    PIXELS: ClassVar = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    """Mean and standard deviation of red, green and blue with which published weights were trained."""

    def __init__(
        self, generator: torch.Generator, classes: int = 1000, width: int = WIDTH, stem: str = "imagenet",
        channels: int = 3,
    ) -> None:  # fmt: skip
        """Weights drawn from `generator`, as torchvision draws them; no other random state is read or changed.

        Parameters
        ----------
        generator : torch.Generator
            On the CPU. Equal states and arguments give equal networks.
        classes : int
            Outputs.
        width : int
            Channels of the first convolution, of which the others have fixed multiples.
        stem : str
            "imagenet" or "small", see this module.
        channels : int
            Channels of the images.
        """
        super().__init__()
        self.classes, self.width, self.stem, self.channels = classes, width, stem, channels
        with torch.random.fork_rng(devices=[]):  # layers draw weights of their own, which are replaced below
            self._build()  # type: ignore[operator]
        for name, module in self.named_modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu", generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Linear):
                self._start_linear(name, module, generator)

    def forward(self, images: Tensor) -> Tensor:
        """Outputs (n, classes) for images (n, channels, height, width)."""
        for _, output in self.stage_outputs(images):  # type: ignore[operator]
            features = output
        return self.get_submodule(self.READOUT.partition(".")[0])(features)

    @staticmethod
    def _start_linear(name: str, layer: nn.Linear, generator: torch.Generator) -> None:
        bound = 1 / math.sqrt(layer.in_features)
        nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
        nn.init.uniform_(layer.bias, -bound, bound, generator=generator)


class ResNet18(Convnet):
    """ResNet-18; the arguments are those of `Convnet.__init__`.

    Convolutions start from N(0, 2/fan_out), the last layer from a uniform law on ±1/√fan_in, normalisations from the
    identity. In training, normalisation needs two values per channel: PyTorch refuses a batch of one image of 8 × 8
    pixels (of 32 × 32 or less for the stem "imagenet"). Images of that size are one place in layer4, where only the
    middle of each kernel is trained.
    """

    READOUT = "fc"

    def _build(self) -> None:
        w, small = self.width, self.stem == "small"
        kernel, stride, padding = (3, 1, 1) if small else (7, 2, 3)
        self.conv1 = Conv2d(self.channels, w, kernel, stride, padding, bias=False)
        self.bn1 = BatchNorm2d(w)
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(_ResidualBlock(w, w, 1), _ResidualBlock(w, w, 1))
        self.layer2 = nn.Sequential(_ResidualBlock(w, 2 * w, 2), _ResidualBlock(2 * w, 2 * w, 1))
        self.layer3 = nn.Sequential(_ResidualBlock(2 * w, 4 * w, 2), _ResidualBlock(4 * w, 4 * w, 1))
        self.layer4 = nn.Sequential(_ResidualBlock(4 * w, 8 * w, 2), _ResidualBlock(8 * w, 8 * w, 1))
        self.fc = Linear(8 * w, self.classes)

    def stage_outputs(self, images: Tensor) -> Iterator[tuple[str, Tensor]]:
        """(name, output) of each stage, in turn, for images (n, channels, height, width): stem, layer1 … layer4 (n,
        channels, height, width), after the ReLU, and pooled (n, 8 width), the input of the last layer.
        """
        output = self.maxpool(F.relu(self.bn1(self.conv1(images))))
        yield "stem", output
        for name in ("layer1", "layer2", "layer3", "layer4"):
            output = self.get_submodule(name)(output)
            yield name, output
        yield "pooled", F.adaptive_avg_pool2d(output, 1).flatten(1)


class _ResidualBlock(nn.Module):
    """relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)), the shortcut a convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = BatchNorm2d(outputs)
        self.conv2 = Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = BatchNorm2d(outputs)
        self.downsample = None
        if inputs != outputs:
            self.downsample = nn.Sequential(Conv2d(inputs, outputs, 1, stride, bias=False), BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + shortcut)


class VGG11(Convnet):
    """VGG-11 without normalisation; the arguments are those of `Convnet.__init__`.

    Convolutions start from N(0, 2/fan_out), biases from 0, linear layers from N(0, .01²) where they have as many inputs
    as torchvision's, and else from a law that gives outputs of the same size: from .01 narrow ones would not train.

    Five poolings leave nothing of an image below 32 pixels, hence the stem "small" with three, for 8 pixels and more.
    In training, the classifier drops half of its units at random.
    """

    READOUT = "classifier.6"
    SMALLEST: ClassVar = {"imagenet": 32, "small": 8}
    _BLOCKS: ClassVar[tuple[tuple[int, ...], ...]] = ((1,), (2,), (4, 4), (8, 8), (8, 8))
    """Channels of each block's convolutions, in widths."""
    _HIDDEN: ClassVar[tuple[int, ...]] = (64, 64)
    """Units of the classifier's layers but the last, in widths."""
    _UNPOOLED = 2  # blocks that no pooling follows with the stem "small"

    def _build(self) -> None:
        small, inputs, layers = self.stem == "small", self.channels, []
        for index, block in enumerate(self._BLOCKS):
            for multiple in block:
                layers += [Conv2d(inputs, multiple * self.width, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = multiple * self.width
            layers.append(nn.Identity() if small and index < self._UNPOOLED else nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d(1 if small else 7)
        inputs, layers = inputs * (1 if small else 49), []
        for multiple in self._HIDDEN:
            hidden = multiple * self.width
            layers += [Linear(inputs, hidden), nn.ReLU(inplace=True), Dropout(hidden)]
            inputs = hidden
        self.classifier = nn.Sequential(*layers, Linear(inputs, self.classes))

    def stage_outputs(self, images: Tensor) -> Iterator[tuple[str, Tensor]]:
        """(name, output) of each stage, in turn, for images (n, channels, height, width): block1 … block5 (n, channels,
        height, width), after the pooling if the stem has one there, and pooled, the input of the classifier's first
        layer: (n, channels · 49), or (n, channels) for the stem "small".
        """
        output, start = images, 0
        for number, block in enumerate(self._BLOCKS, 1):
            end = start + 2 * len(block) + 1  # a convolution and a ReLU each, and the pooling
            output = self.features[start:end](output)
            yield f"block{number}", output
            start = end
        yield "pooled", self.avgpool(output).flatten(1)

    @staticmethod
    def _start_linear(name: str, layer: nn.Linear, generator: torch.Generator) -> None:
        standard = 49 * 8 * WIDTH if name == "classifier.0" else 64 * WIDTH  # inputs of torchvision's layer
        nn.init.normal_(layer.weight, 0, 0.01 * math.sqrt(standard / layer.in_features), generator=generator)
        nn.init.zeros_(layer.bias)


class VGG5(VGG11):
    """Three convolutions, each pooled, and two linear layers: VGG-11's kind, without normalisation, at a depth at which
    a factor of .5 on all weights leaves 1/32 of the outputs, not 1/2048.

    The arguments are those of `Convnet.__init__`. Layers start as VGG-11's first, second, third, … and last do.
    """

    READOUT = "classifier.3"
    SMALLEST: ClassVar = {"imagenet": 8, "small": 8}
    _BLOCKS: ClassVar = ((1,), (2,), (4,))
    _HIDDEN: ClassVar = (16,)
    _UNPOOLED = 0


class EfficientNetLite0(Convnet):
    """EfficientNet-Lite0 by the names and shapes of the package efficientnet-lite-pytorch, in its published width, 64,
    for images with three channels (Tan and Le 2019, without squeeze and excitation, with ReLU6).

    Weights start as ResNet-18's. Those that were trained on ImageNet load by name; in evaluation the network then
    computes the same as that package's. In training, nothing is dropped, and normalisations renew their statistics by a
    tenth in each step instead of a hundredth, with which statistics would hardly follow a network that is finetuned for
    some tens of steps.
    """

    READOUT = "_fc"
    SMALLEST: ClassVar = {"imagenet": 32}
    PIXELS: ClassVar = ((127 / 255,) * 3, (128 / 255,) * 3)
    _STAGES: ClassVar = (  # blocks, kernel, stride, factor on the channels inside a block, channels
        (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80), (3, 5, 1, 6, 112), (4, 5, 2, 6, 192),
        (1, 3, 1, 6, 320),
    )  # fmt: skip

    def _build(self) -> None:
        self._conv_stem = _SamePadding(3, 32, 3, 2, bias=False)
        self._bn0 = BatchNorm2d(32, EPSILON)
        blocks, inputs = [], 32
        for repeats, kernel, stride, expansion, outputs in self._STAGES:
            for repeat in range(repeats):
                blocks.append(_InvertedBlock(inputs, outputs, kernel, 1 if repeat else stride, expansion))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = Conv2d(inputs, 1280, 1, bias=False)
        self._bn1 = BatchNorm2d(1280, EPSILON)
        self._fc = Linear(1280, self.classes)

    def stage_outputs(self, images: Tensor) -> Iterator[tuple[str, Tensor]]:
        """(name, output) of each stage, in turn, for images (n, 3, height, width): stem, stage1 … stage7 (n, channels,
        height, width), and pooled (n, 1280), the input of the last layer.
        """
        output = F.relu6(self._bn0(self._conv_stem(images)))
        yield "stem", output
        blocks = iter(self._blocks)
        for number, (repeats, *_) in enumerate(self._STAGES, 1):
            for _ in range(repeats):
                output = next(blocks)(output)
            yield f"stage{number}", output
        output = F.relu6(self._bn1(self._conv_head(output)))
        yield "pooled", F.adaptive_avg_pool2d(output, 1).flatten(1)


class _SamePadding(Conv2d):
    """A convolution padded as in TensorFlow: as many outputs as inputs over the stride, the odd zero behind."""

    def forward(self, images: Tensor) -> Tensor:
        (kernel, _), (stride, _), size = self.kernel_size, self.stride, images.shape[-1]
        padding = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        return super().forward(F.pad(images, (padding // 2, padding - padding // 2) * 2))


class _InvertedBlock(nn.Module):
    """More channels, a convolution of each on its own, fewer channels; the input is added where it has the shape."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        inside = inputs * expansion
        self._expand_conv = None
        if expansion > 1:
            self._expand_conv = Conv2d(inputs, inside, 1, bias=False)
            self._bn0 = BatchNorm2d(inside, EPSILON)
        depthwise = _SamePadding if stride > 1 else Conv2d
        padding = 0 if stride > 1 else kernel // 2
        self._depthwise_conv = depthwise(inside, inside, kernel, stride, padding, groups=inside, bias=False)
        self._bn1 = BatchNorm2d(inside, EPSILON)
        self._project_conv = Conv2d(inside, outputs, 1, bias=False)
        self._bn2 = BatchNorm2d(outputs, EPSILON)
        self._adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        output = x if self._expand_conv is None else F.relu6(self._bn0(self._expand_conv(x)))
        output = F.relu6(self._bn1(self._depthwise_conv(output)))
        output = self._bn2(self._project_conv(output))
        return output + x if self._adds else output


NETWORKS = {"resnet18": ResNet18, "vgg11": VGG11, "vgg5": VGG5, "efficientnet_lite0": EfficientNetLite0}
