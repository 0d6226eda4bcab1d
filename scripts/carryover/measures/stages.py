"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many of
them are the same; "Feature reuse in multi-task learning and finetuning (appendix)", section G, Fig. 8d."""

from __future__ import annotations

import math

import numpy as np
import torch

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
BATCH = 64  # images in a forward pass
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
    source = images(attrs["images"], attrs["folder"])
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
    """{stage: kernel between the images `chosen`} of the network with packed weights `state` (parameter,).

    All outputs are held: 2000 images of 32 × 32 pixels in ResNet-18 with the stem "small" take 1.4 GiB.
    """
    load(network, state, prepared, chosen, p.statistics == "renewed", when)
    device = next(network.parameters()).device
    outputs: dict[str, list[torch.Tensor]] = {}
    # All calls have equally many images, the last one being repeated: what outputs round to can depend on their number,
    # and a stage that is dead must not seem alive by that.
    size = math.ceil(len(chosen) / math.ceil(len(chosen) / BATCH))
    # Without TensorFloat-32, which keeps 10 bits, a GPU finds what a CPU finds.
    with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        for first in range(0, len(chosen), size):
            rows = np.minimum(np.arange(first, first + size), len(chosen) - 1)
            for name, output in network.stages(prepared.batch("test", chosen[rows], device=device)):
                outputs.setdefault(name, []).append(output.flatten(1))
        return {name: centred_kernel(name, torch.cat(outputs.pop(name))[: len(chosen)]) for name in list(outputs)}


def centred_kernel(stage: str, features: torch.Tensor) -> np.ndarray:
    """K = XXᵀ, (samples, samples) float64, of features X (samples, p) float32 less their mean over samples.

    On K rest the participation ratio, ENSD and CKA, see `dimensionality.compare_kernels`. K is 0 where features are the
    same for all samples up to rounding. Raises ValueError, naming the stage, for features that are not finite.
    """
    low, high = (extreme.cpu().numpy() for extreme in (features.amin(0), features.amax(0)))
    if not np.isfinite([low, high]).all():
        raise ValueError(f"the features of the stage {stage} must be finite")
    if constant(low, high, np.float32):
        return np.zeros((len(features),) * 2)
    # Their mean, subtracted first, spares small variations about a large mean, and a power of two leaves products
    # neither too large nor too small for single precision.
    features = features - features.mean(0, dtype=torch.float64).float()
    exponent = min(max(math.frexp(float(features.abs().max()))[1], -100), 100)
    features *= 2.0**-exponent
    kernel = (features @ features.T).double().cpu().numpy()
    kernel -= kernel.mean(0)
    kernel -= kernel.mean(1)[:, None]
    return kernel * 4.0**exponent
