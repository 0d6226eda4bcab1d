"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many of
them are the same; "Feature reuse in multi-task learning and finetuning (appendix)", section G, Fig. 8d."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from carryover.errors import UserError
from carryover.measures.dimensionality import MEANING, compare_kernels, constant
from carryover.networks.convnet_layers import renewing_statistics
from carryover.networks.convnet_weights import unpacked
from carryover.networks.efficientnet import NETWORKS
from carryover.runs import measured, naming
from carryover.streams import generator
from carryover.tasks.class_subsets import class_task
from carryover.tasks.images import images
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.devices import torch_device

READS = ("folder",)
RENEWED = 512  # most images whose statistics normalisations get


def measure(data, p):
    """Dimensionality of every stage's output after and before finetuning, and what both share, (run, stage).

    Before finetuning is before rescaling, too. Networks are as they are used: normalised by running statistics, nothing
    dropped. Both see the same test images, and so do all runs of the same classes. A stage whose output is the same for
    all images has no dimensionality: NaN there.

    Raises UserError for fewer than two images, and, naming the run, for weights or outputs that are not finite.
    """
    network, prepared = network_and_images(data.attrs, p.device)
    compared = {}
    for (start, classes), runs in groups(data).items():
        chosen = test_images(prepared.images, classes, p.count)
        with naming(data.isel(run=runs[0])):
            before = _kernels(network, data["start_state"].values[start], prepared, chosen, p, "before")
        for run in runs:
            with naming(data.isel(run=run)):
                after = _kernels(network, data["state"].values[run], prepared, chosen, p, "after")
            compared[run] = {name: compare_kernels(before[name], after[name]) for name in after}
    values = np.array([list(compared[run].values()) for run in sorted(compared)])
    columns = zip(MEANING.items(), np.moveaxis(values, 2, 0), strict=True)
    variables = {name: (("run", "stage"), column, meaning) for (name, meaning), column in columns}
    return measured(data, variables, stage=(list(compared[0]), "stage of the network, by its output"))


def network_and_images(attrs, device):
    """A network as those of a shard with these attributes, and the images that they were finetuned on."""
    kind = NETWORKS[attrs["network"]]
    network = kind(torch.Generator(), attrs["classes"], attrs["width"], attrs["stem"], attrs["channels"])
    source = images(attrs["images"], attrs["folder"], bool(attrs["other_images"]))
    published = kind.PIXELS if attrs["normalisation"] == "network" else None
    return network.to(torch_device(device)).eval(), PreparedImages(source, int(attrs["pixels"]), published=published)


def groups(data):
    """{(start, classes of the images): runs}: what is compared with the same kernels."""
    found: dict[tuple[int, str], list[int]] = {}
    for run, (start, target) in enumerate(zip(data["start"].values, data["target_classes"].values, strict=True)):
        found.setdefault((int(start), str(target)), []).append(run)
    return found


def test_images(source, classes, count):
    """Indices of test images, at most `count` unless it is 0, the same ones for the same classes."""
    whole = class_task(source, classes.split()).test
    order = generator("stages", "", 0, "images").permutation(len(whole))
    chosen = np.sort(whole[order[: count or None]])  # in the order in which they lie on disk
    if len(chosen) < 2:
        raise UserError(f"count is {count}, and {len(chosen)} test image is too few: give two or more.")
    return chosen


def load(network, state, prepared, chosen, renew, when):
    """Put packed weights `state` (parameter,) into a network, and with `renew` the statistics of the images `chosen`.

    Raises ValueError for weights that are not finite.
    """
    if not np.isfinite(state).all():
        raise ValueError(f"the weights {when} finetuning must be finite")
    network.load_state_dict(unpacked(network, state))
    if renew:
        with renewing_statistics(network):
            network(prepared.batch("test", chosen[:RENEWED], device=next(network.parameters()).device))


def _kernels(network, state, prepared, chosen, p, when):
    """{stage: kernel between the images `chosen`} of the network with packed weights `state` (parameter,)."""
    load(network, state, prepared, chosen, p.statistics == "renewed", when)
    device = next(network.parameters()).device

    def features(rows):
        for name, output in network.stages(prepared.batch("test", chosen[rows], device=device)):
            yield name, output.flatten(1)

    # Without TensorFloat-32, which keeps 10 bits, a GPU finds what a CPU finds.
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        return centred_kernels(features, len(chosen))


_TILE = 256  # rows of a kernel at once: fewer are slower to multiply, of more a larger part is multiplied twice
_PROBE = 16  # samples that say how many units there are, and about where and how far apart their responses are

Features = Callable[[np.ndarray], Iterable[tuple[str, Tensor]]]


@torch.inference_mode()
def centred_kernels(features: Features, samples: int, *, batch: int = 64) -> dict[str, np.ndarray]:
    """K = XXᵀ of every stage's features X less their mean over samples, {stage: (samples, samples)} float64.

    On K rest the participation ratio, ENSD and CKA, "Feature reuse in multi-task learning and finetuning (appendix)",
    section G, see `dimensionality.compare_kernels`. K is 0 where features are the same for all samples up to rounding.
    All features are held: 2000 images of 32 × 32 pixels in ResNet-18 with the stem "small" take 1.4 GiB.

    Args:
        features: called with indices of samples (b,), gives (stage, features (b, p) float32) of one stage after the
            other, always the same ones. Each is done with before the next is asked for, so it may be a generator that
            goes through the network. Products are taken where the features are, on the CPU or a GPU.
        samples: n, two or more.
        batch: most samples in one call. All calls but the first have equally many, the last sample being repeated: what
            features round to can depend on their number, and a stage that is dead must not seem alive by that.

    Raises ValueError, naming the stage, for features that are not finite.
    """
    stages = {name: _Stage(probe, samples) for name, probe in features(np.arange(min(samples, batch, _PROBE)))}
    batch = math.ceil(samples / math.ceil(samples / batch))
    for begin in range(0, samples, batch):
        for name, output in features(np.minimum(np.arange(begin, begin + batch), samples - 1)):
            stages[name].take(output, begin)
    return {name: stages.pop(name).centred(name) for name in list(stages)}


class _Stage:
    """The features of one stage while they come in, and their kernel."""

    def __init__(self, probe: Tensor, samples: int) -> None:
        # In double precision the mean of equal numbers is one of them. Subtracted first, it spares small variations
        # about a large mean, and a power of two leaves products neither too large nor too small for single precision.
        self.shift = probe.double().mean(0).float()
        spread = float((probe - self.shift).abs().max())
        exponent = math.frexp(spread)[1] if math.isfinite(spread) else 0
        self.scale = 2.0 ** -min(max(exponent, -100), 100)
        self.low, self.high = torch.full_like(self.shift, math.inf), torch.full_like(self.shift, -math.inf)
        self.held = self.shift.new_empty(samples, len(self.shift))

    def take(self, output: Tensor, begin: int) -> None:
        """The samples from `begin`; those beyond the last are left out."""
        output = output[: len(self.held) - begin]
        self.low = torch.minimum(self.low, output.amin(0))
        self.high = torch.maximum(self.high, output.amax(0))
        torch.sub(output, self.shift, out=self.held[begin : begin + len(output)]).mul_(self.scale)

    def centred(self, name: str) -> np.ndarray:
        samples = len(self.held)
        kernel = np.zeros((samples, samples))
        for row in range(0, samples, _TILE):
            below = min(row + _TILE, samples)
            products = (self.held[row:below] @ self.held[:below].T).cpu().numpy()
            kernel[row:below, :below] = products
            kernel[:below, row:below] = products.T
        if not np.isfinite(kernel).all():
            raise ValueError(f"the features of the stage {name} must be finite")
        if constant(self.low.cpu().numpy(), self.high.cpu().numpy(), np.float32):
            return np.zeros_like(kernel)
        kernel -= kernel.mean(0)
        kernel -= kernel.mean(1)[:, None]
        kernel /= self.scale**2
        return kernel
