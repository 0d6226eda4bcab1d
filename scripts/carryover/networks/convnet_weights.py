"""Saved weights of the convolutional networks of `carryover.networks.convnet`: read from a file, and rescaled."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from carryover.errors import UserError
from carryover.networks.convnet import VGG11, ResNet18

KINDS = ("all", "weights", "readout")
_WANTED = "give weights of the same network with the same width, stem, channels and classes"
_BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


def rescaled(state: Mapping[str, Tensor], factor: float, which: str) -> dict[str, Tensor]:
    """A network's parameters and buffers, {name: tensor} as `state_dict` gives them, with weights times `factor`.

    "Feature reuse in multi-task learning and finetuning (appendix)", F and Figs. 7 and 8d: a pretrained network is
    rescaled before it is finetuned.

    Args:
        state: it is left as it is, and so are its tensors; the result is in its order, of new ones.
        factor: a finite number above 0.
        which: "all", everything that is trained: weights and biases of convolutions and linear layers, and the scale
            and shift of normalisations. "weights", the same without normalisations (layers whose weight has one axis).
            "readout", the last layer alone: a control, since finetuning begins with a new one.

    Buffers, which are not trained, are never scaled: running mean, running variance, number of batches. Behind a scaled
    convolution they are wrong until training has renewed them.

    In training, a normalisation undoes the scale of the convolution before it. So "all" scales every stage of ResNet-18
    by `factor`, and once more by its last layer, and "weights" scales the last layer alone. (But a step of gradient
    descent then turns the weights of a convolution further: relative to their size, by 1/factor² with "weights".)

    Raises:
        ValueError: `factor` or `which` is none of these.
    """
    if not (math.isfinite(factor) and factor > 0):
        raise ValueError(f"factor must be a finite number above 0, got {factor!r}")
    if which not in KINDS:
        raise ValueError(f"which must be one of {', '.join(KINDS)}, got {which!r}")
    scaled, last = {}, next(reversed(state), "").rpartition(".")[0]
    for name, tensor in state.items():
        layer, _, kind = name.rpartition(".")
        normalises = state.get(f"{layer}.weight", tensor).ndim == 1
        kept = kind in _BUFFERS or (which == "weights" and normalises) or (which == "readout" and layer != last)
        scaled[name] = tensor.detach().clone() if kept else tensor.detach() * factor
    return scaled


def packed(state: Mapping[str, Tensor]) -> np.ndarray:
    """All parameters and buffers of a network, as `state_dict` gives them, one after the other: (P,) float32."""
    return np.concatenate([tensor.detach().cpu().numpy().astype(np.float32).ravel() for tensor in state.values()])


def unpacked(network: ResNet18 | VGG11, values: np.ndarray) -> dict[str, Tensor]:
    """What `packed` was given, of a network like this one, for its `load_state_dict`; shapes and types are its own.

    Raises ValueError where it has another number of values.
    """
    own = network.state_dict()
    sizes = [tensor.numel() for tensor in own.values()]
    if np.shape(values) != (sum(sizes),):
        raise ValueError(f"values must have the shape ({sum(sizes)},) for this network, got {np.shape(values)}")
    pieces = np.split(values, np.cumsum(sizes)[:-1])
    return {
        name: torch.from_numpy(piece.reshape(tensor.shape)).to(tensor.dtype, copy=True)
        for (name, tensor), piece in zip(own.items(), pieces, strict=True)
    }


def load_weights(
    network: ResNet18 | VGG11, path: str | Path, sha256: str | None = None, classes_differ: bool = False
) -> None:
    """Load a file that torch.save wrote of a `state_dict`, such as those that torchvision publishes, into a network.

    Nothing in the file is run (`torch.load` with `weights_only`). Before anything is loaded, all of it is checked, so
    that a refused file leaves the network as it was.

    Args:
        network: names and shapes must be its own. The number of batches that a normalisation has seen may be missing,
            as in files of PyTorch before 0.4.1; the network then keeps its own.
        path: the file. Where it ends in ".pth" and its name in "-" and 8 or more hexadecimal digits, as in
            resnet18-f37072fd.pth, the file's SHA-256 must start with them.
        sha256: all 64 hexadecimal digits of the file's SHA-256, checked as well.
        classes_differ: the file is of a network for other classes. Its last layer is passed over, whatever its shape,
            and the network keeps its own, with its initial values.

    Raises UserError for a `sha256` that is none, and, in one sentence that names the file, what is wrong (of the
    parameters the first one) and what was expected.
    """
    if sha256 is not None and not re.fullmatch("[0-9a-fA-F]{64}", sha256):
        raise UserError(f"sha256 must be 64 hexadecimal digits, got {sha256!r}")
    path = Path(path)
    known = dict(network.state_dict())
    given = _read(path, type(network).__name__, sha256)
    if classes_differ:
        for part in ("weight", "bias"):
            del known[f"{network.READOUT}.{part}"]
            given.pop(f"{network.READOUT}.{part}", None)
    for name, own in known.items():
        _check(path, type(network).__name__, name, own, given.get(name))
    if unexpected := [name for name in given if name not in known]:
        raise UserError(f"{path} has {unexpected[0]!r}, which {type(network).__name__} has not: {_WANTED}.")
    network.load_state_dict(given, strict=False)


def _read(path: Path, network: str, sha256: str | None) -> dict[str, Tensor]:
    """The named tensors in a file; UserError where it holds anything else or has another checksum than it should."""
    try:
        with path.open("rb") as file:
            _compare(path, hashlib.file_digest(file, "sha256").hexdigest(), sha256)
            file.seek(0)
            state = _unpacked(path, file)
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}): give a file of weights of {network}.") from None
    if not isinstance(state, Mapping):
        raise UserError(f"{path} holds a {type(state).__name__}, not tensors by name: save network.state_dict() in it.")
    for name, tensor in state.items():
        if not isinstance(tensor, Tensor):
            what = f"whose entry {name!r} is a {type(tensor).__name__} and no tensor"
            raise UserError(f"{path} holds a {type(state).__name__} {what}: save network.state_dict() in it.")
    return dict(state)


def _compare(path: Path, digest: str, sha256: str | None) -> None:
    """Refuse a file whose SHA-256 is not the one given, or does not start as its name says."""
    if sha256 is not None and digest != sha256.lower():
        raise UserError(f"{path} has the SHA-256 {digest}, not {sha256.lower()}: get the file again.")
    named = re.search(r"-([0-9a-f]{8,64})\.pth$", path.name)
    if named and not digest.startswith(named[1]):
        raise UserError(
            f"{path} has a SHA-256 that starts with {digest[:8]}, not with {named[1]} as its name says: get the file "
            f"again, or rename it if the digits are no checksum."
        )


def _unpacked(path: Path, file) -> object:
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception:  # a damaged file can raise anything at all
        raise UserError(
            f"{path} cannot be read safely as PyTorch weights, it is damaged or of another kind: give a file that "
            f"torch.save wrote of network.state_dict()."
        ) from None


def _check(path: Path, network: str, name: str, own: Tensor, given: Tensor | None) -> None:
    """Refuse what cannot be the parameter or buffer `name` of the network, where it is `own`."""
    shape = tuple(own.shape)
    if given is None:
        if not name.endswith("num_batches_tracked"):
            raise UserError(f"{path} lacks {name!r}, in this {network} of the shape {shape}: {_WANTED}.")
    elif tuple(given.shape) != shape:
        what = f"of the shape {tuple(given.shape)}, in this {network} of {shape}"
        raise UserError(f"{path} has {name!r} {what}: {_WANTED}.")
    elif not (_is_plain(given) and torch.can_cast(given.dtype, own.dtype)):
        raise UserError(f"{path} has {name!r} of the type {given.dtype}, not a plain tensor of {own.dtype}: {_WANTED}.")
    elif not given.to(own.dtype).isfinite().all():
        raise UserError(f"{path} has {name!r} with values that are not finite {own.dtype}: {_WANTED}.")


def _is_plain(tensor: Tensor) -> bool:
    return tensor.layout == torch.strided and tensor.device.type == "cpu" and not tensor.is_quantized
