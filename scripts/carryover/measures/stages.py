"""How many dimensions the outputs of a convolutional network's stages have before and after finetuning, and how many of
them are the same; "Feature reuse in multi-task learning and finetuning (appendix)", section G, Fig. 8d."""

from __future__ import annotations

import numpy as np
import torch

from carryover.errors import UserError
from carryover.measures._streamed import centred_kernels
from carryover.measures.dimensionality import MEANING, compare_kernels
from carryover.networks.convnet import NETWORKS
from carryover.networks.convnet_weights import unpacked
from carryover.runs import measured, naming
from carryover.streams import generator
from carryover.tasks.class_subsets import class_task
from carryover.tasks.images import images
from carryover.tasks.prepared_images import PreparedImages
from carryover.training.devices import torch_device

READS = ("folder",)


def measure(data, p):
    """Dimensionality of every stage's output after and before finetuning, and what both share, (run, stage).

    Before finetuning is before rescaling, too. Networks are as they are used: normalised by running statistics, nothing
    dropped. Both see the same test images, and so do all runs of the same classes. A stage whose output is the same for
    all images has no dimensionality: NaN there.

    Raises UserError for weights that were not kept, fewer than two images, and, naming the run, weights or outputs that
    are not finite.
    """
    if "state" not in data:
        raise UserError("the weights of the finetuned networks were not kept: set keep_weights: true.")
    network = _network(data.attrs).to(torch_device(p.device)).eval()
    source = images(data.attrs["images"], data.attrs["folder"], bool(data.attrs["other_images"]))
    prepared = PreparedImages(source, pixels=int(data.attrs["pixels"]))
    compared = {}
    for (start, classes), runs in _groups(data, p.of).items():
        chosen = _chosen(source, classes, p.count)
        with naming(data.isel(run=runs[0])):
            before = _kernels(network, data["start_state"].values[start], prepared, chosen, p.batch, "before")
        for run in runs:
            with naming(data.isel(run=run)):
                after = _kernels(network, data["state"].values[run], prepared, chosen, p.batch, "after")
            compared[run] = {name: compare_kernels(before[name], after[name]) for name in after}
    values = np.array([list(compared[run].values()) for run in sorted(compared)])
    variables = {name: (("run", "stage"), values[:, :, column]) for column, name in enumerate(MEANING)}
    return measured(
        data, variables, MEANING | {"stage": "stage of the network, by its output"}, stage=list(compared[0])
    )


def _network(attrs):
    kind = NETWORKS[attrs["network"]]
    return kind(torch.Generator(), attrs["classes"], attrs["width"], attrs["stem"], attrs["channels"])


def _groups(data, of):
    """{(start, classes of the images, "" for all): runs}: what is compared with the same kernels."""
    groups: dict[tuple[int, str], list[int]] = {}
    for run, (start, target) in enumerate(zip(data["start"].values, data["target_classes"].values, strict=True)):
        groups.setdefault((int(start), str(target) if of == "target" else ""), []).append(run)
    return groups


def _chosen(source, classes, count):
    """Indices of test images, at most `count` unless it is 0, the same ones for the same classes."""
    whole = class_task(source, classes.split()).test if classes else np.arange(len(source.test))
    order = generator("stages", "", 0, "images").permutation(len(whole))
    chosen = np.sort(whole[order[: count or None]])  # in the order in which they lie on disk
    if len(chosen) < 2:
        which = f"classes {classes}" if classes else "set"
        raise UserError(f"count is {count}, and {len(chosen)} test image of the {which} is too few: give two or more.")
    return chosen


def _kernels(network, state, prepared, chosen, batch, when):
    """{stage: kernel between the images `chosen`} of the network with packed weights `state` (parameter,)."""
    if not np.isfinite(state).all():
        raise ValueError(f"the weights {when} finetuning must be finite")
    network.load_state_dict(unpacked(network, state))
    device = next(network.parameters()).device

    def features(rows):
        for name, output in network.stages(prepared.batch("test", chosen[rows], device=device)):
            yield name, output.flatten(1)

    # Without TensorFloat-32, which keeps 10 bits, a GPU finds what a CPU finds.
    with torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False):
        return centred_kernels(features, len(chosen), batch=batch)
