"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many of
them are the same; "Feature reuse in multi-task learning and finetuning (appendix)", section G, Fig. 8d."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from pydantic import NonNegativeInt

from carryover.config import plugins
from carryover.config.parameters import Model, parameter
from carryover.config.protocols import TRAINED
from carryover.measures.dimensionality import MEANING, compare_kernels, constant, summarise
from carryover.networks.convnet import NETWORKS
from carryover.networks.convnet_layers import renewing_statistics
from carryover.networks.convnet_weights import unpack
from carryover.runs import measure_each_run
from carryover.streams import generator
from carryover.tasks.image_tasks import PreparedImages, class_task, limit_test_images
from carryover.tasks.images import images
from carryover.training.devices import torch_device

BATCH = 64  # images in a forward pass
RENEWED = 512  # most images whose statistics normalisations get
RELEASED = {
    "participation_ratio_released": "participation ratio at the end as in the released code, with no mean subtracted",
    "participation_ratio_start_released": "participation ratio at the start as in the released code",
    "ensd_released": "effective number of shared dimensions as in the released code, which matches units, not samples",
}


class Stages(Model):
    count: NonNegativeInt = parameter(2000, "most images, drawn evenly; 0: all; their outputs are held in memory")
    statistics: Literal["kept", "renewed"] = parameter(
        "kept", "statistics of normalisation before and after finetuning: those of the networks, or of the images"
    )
    device: Literal["auto", "cpu", "cuda"] = parameter("auto", "where the networks are")


@plugins.measure(needs=["state", "start_state"], applies_to=TRAINED, files=["folder"])
def stages(data, p: Stages):
    """Dimensionality of every stage's output after and before finetuning, and what both share, (run, stage).

    The network before finetuning is the one before any rescaling. Networks are in evaluation mode: normalised by
    running statistics, without dropout. The same test images are given to both networks of a run, and to all runs of
    the same classes. NaN for a stage whose output is the same for all images.

    Raises UserError, naming the run, for outputs that are not finite.
    """
    network, prepared = network_and_images(data.attrs, p.device)

    @lru_cache(maxsize=1)  # runs from one start are adjacent, and kernels are large
    def of_start(start, classes):
        """(image numbers, {stage: outputs}, {stage: kernel}) of the network before finetuning, number `start`."""
        chosen = choose_test_images(prepared.images, classes, p.count).test
        outputs = _outputs(network, data["start_state"].values[start], prepared, chosen, p)
        return chosen, outputs, {name: centre_kernel(name, output) for name, output in outputs.items()}

    def of_run(run):
        chosen, outputs, kernels = of_start(int(run["start"]), run["target_classes"].item())
        after = _outputs(network, run["state"].values, prepared, chosen, p)
        by_stage = [
            (*compare_kernels(kernels[name], centre_kernel(name, output)), *compare_units(outputs[name], output))
            for name, output in after.items()
        ]
        meaning = MEANING | RELEASED
        return {
            name: (values, meaning[name]) for name, values in zip(meaning, zip(*by_stage, strict=True), strict=True)
        }

    device = next(network.parameters()).device
    # One image shows which stages there are.
    names = [name for name, _ in network.stage_outputs(prepared.batch("test", np.arange(1), device=device))]
    result = measure_each_run(data, of_run, stage=(names, "stage of the network, by its output"))
    return result.assign_attrs(images=data.attrs["images"])  # which figures and claims name


def network_and_images(attrs, device):
    """A network of the architecture in these attributes of a shard, and the images of its tasks."""
    kind = NETWORKS[attrs["network"]]
    network = kind(torch.Generator(), attrs["classes"], attrs["width"], attrs["stem"], attrs["channels"])
    source = images(attrs["images"], attrs["folder"])
    published = kind.PIXELS if attrs["normalisation"] == "network" else None
    return network.to(torch_device(device)).eval(), PreparedImages(source, int(attrs["pixels"]), published=published)


def choose_test_images(source, classes, count):
    """The task of these classes with at most `count` of its test images, unless it is 0: the same ones at all times."""
    return limit_test_images(class_task(source, classes.split()), count, generator("stages", "", 0, "images"))


def load(network, state, prepared, chosen, renew):
    """Put packed weights `state` (parameter,) into a network, with `renew` also the statistics of images `chosen`."""
    network.load_state_dict(unpack(network, state))
    if renew:
        with renewing_statistics(network):
            network(prepared.batch("test", chosen[:RENEWED], device=next(network.parameters()).device))


def _outputs(network, state, prepared, chosen, p):
    """{stage: outputs (images, p) for the images `chosen`} of the network with packed weights `state` (parameter,).

    All stay in memory: 2000 images of 32 × 32 pixels in ResNet-18 with the stem "small" take 1.4 GiB.
    """
    load(network, state, prepared, chosen, p.statistics == "renewed")
    device = next(network.parameters()).device
    outputs: dict[str, list[torch.Tensor]] = {}
    # All batches have equally many images, the last one repeated: rounding can depend on the batch size, and a stage
    # with constant outputs must not seem to vary by that.
    size = math.ceil(len(chosen) / math.ceil(len(chosen) / BATCH))
    # Without TensorFloat-32, which has 10 bits of precision, a GPU agrees with a CPU.
    with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        for first in range(0, len(chosen), size):
            rows = np.minimum(np.arange(first, first + size), len(chosen) - 1)
            for name, output in network.stage_outputs(prepared.batch("test", chosen[rows], device=device)):
                outputs.setdefault(name, []).append(output.flatten(1))
        return {name: torch.cat(outputs.pop(name))[: len(chosen)] for name in list(outputs)}


def compare_units(start: torch.Tensor, end: torch.Tensor) -> tuple[float, ...]:
    """Values of `RELEASED` of outputs (samples, p) at the start and at the end.

    The released code subtracts no mean, and where the paper has |XᵀY|², it has tr(XᵀX YᵀY) = |XYᵀ|², which depends on
    the order of units. NaN where either is 0.
    """
    X, Y = (features / features.abs().max() for features in (start, end))
    kk, kl, ll = ((a @ b.T).square().sum(dtype=torch.float64).item() for a, b in ((X, X), (X, Y), (Y, Y)))
    traces = (features.square().sum(dtype=torch.float64).item() for features in (X, Y))
    return summarise(*(np.float64(value) for value in (kk, kl, ll, *traces)))[:3]


def centre_kernel(stage: str, features: torch.Tensor) -> np.ndarray:
    """K = XXᵀ, (samples, samples) float64, of features X (samples, p) float32 less their mean over samples.

    The participation ratio, ENSD and CKA are functions of K, see `dimensionality.compare_kernels`. K is 0 if features
    are the same for all samples up to rounding. Raises ValueError, naming the stage, for features that are not finite.
    """
    low, high = (extreme.cpu().numpy() for extreme in (features.amin(0), features.amax(0)))
    if not np.isfinite([low, high]).all():
        raise ValueError(f"the features of the stage {stage} must be finite")
    if constant(low, high, np.float32):
        return np.zeros((len(features),) * 2)
    # Subtracting the mean first preserves small variations about a large mean; scaling by a power of two, which is
    # exact, keeps products within the range of single precision.
    features = features - features.mean(0, dtype=torch.float64).float()
    exponent = min(max(math.frexp(float(features.abs().max()))[1], -100), 100)
    features *= 2.0**-exponent
    kernel = (features @ features.T).double().cpu().numpy()
    kernel -= kernel.mean(0)  # again, for the mean that was subtracted is rounded to single precision
    kernel -= kernel.mean(1)[:, None]
    return kernel * 4.0**exponent
