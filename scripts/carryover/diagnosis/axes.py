"""The axes of what a layer gives out: where its channels are, which of its tokens count, and what is kept of both.

Layers of torch, and those that are derived from them, say where channels or features are. What comes out of other
modules is compared with the last such layer before it: channels are where their number and the places next to them are
found again. Where both ends of the shape fit, nothing tells, and the user is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from carryover.diagnosis.modules import BATCHED, Place, bare, tensors
from carryover.errors import UserError

Reduction = str | Callable[[Tensor], Tensor]
REDUCTIONS = ("flatten", "mean", "first", "last")
MASKS = ("attention_mask", "token_mask")
_CROSS = re.compile(r"(encoder_attn|EncDecAttention|crossattention).*\.(k|v|k_proj|v_proj|key|value)$")
_SENSES = re.compile(r"vision|visual|image|audio")  # parts of a network that see no words
_FIRST = (nn.modules.conv._ConvNd, nn.modules.batchnorm._BatchNorm, nn.modules.instancenorm._InstanceNorm, nn.GroupNorm,
          nn.modules.pooling._MaxPoolNd, nn.modules.pooling._AvgPoolNd, nn.modules.pooling._AdaptiveAvgPoolNd,
          nn.modules.pooling._AdaptiveMaxPoolNd, nn.PixelShuffle, nn.PixelUnshuffle)  # fmt: skip
_LAST = (nn.Linear, nn.Embedding, nn.RMSNorm, nn.MultiheadAttention, nn.RNNBase)


def refuse_unbatched(place: Place, output: Any) -> None:
    """Raise UserError where torch's layer was given one sample without a batch, whose first axis would pass for one."""
    part: Any = bare(place.part)
    known = isinstance(part, nn.Linear | nn.modules.conv._ConvNd) and isinstance(output, Tensor)
    if known and output.ndim < part.weight.ndim:
        raise UserError(f"{place.name} gets samples one by one, without an axis for the batch: {BATCHED}")


class Given(NamedTuple):
    """What a layer gave out, its batch first, and the axis of its channels, 1 or -1."""

    shape: torch.Size
    contiguous: bool
    axis: int


class Channels:
    """Follows the axis of the channels through one call of a network.

    `said` is the axis that the user gives, counted as the layers' outputs have it; batch, where these have the batch.
    """

    def __init__(self, said: int | None, batch: int) -> None:
        self._said, self._batch = said, batch
        self._last: Given | None = None  # by a layer of a known kind
        self._axes: set[int] = set()  # of all such layers until now

    def follow(self, module: nn.Module, stack: ExitStack) -> None:
        """Look at the layers of known kinds that the network calls, until the stack is left."""
        for part in module.modules():
            if isinstance(part, (*_FIRST, *_LAST, nn.LayerNorm)):
                stack.enter_context(part.register_forward_hook(self._see))

    def _see(self, part: Any, inputs: Any, output: Any) -> None:
        """Forward hook of a layer of a known kind: note where its output of three axes or more has the channels."""
        given = next(iter(tensors(output).values()), None)
        if given is None or given.ndim < 3:
            return
        axis = 1 if isinstance(part, _FIRST) else -1
        given = given.movedim(self._batch if axis == -1 else 0, 0)  # convolutions always have the batch first
        if isinstance(part, nn.Linear) and inputs and inputs[0].ndim == given.ndim:  # it may mix tokens
            axis = self._follow(inputs[0].movedim(self._batch, 0).shape) or -1
        elif type(part) is nn.LayerNorm:  # it may be over tokens, or over all of a sample
            before = self._last.axis if self._last and len(part.normalized_shape) > 1 else -1
            axis = self._follow(given.shape) or before
        elif isinstance(part, nn.LayerNorm):  # some have channels first
            fitting = [end for end in (1, -1) if part.normalized_shape == (given.shape[end],)]
            axis = fitting[0] if len(fitting) == 1 else self.of(given) or -1
        self._last = Given(given.shape, given.is_contiguous(), axis)
        self._axes.add(axis)

    def _follow(self, shape: torch.Size) -> int | None:
        """1 or -1, the axis of a shape (batch, …) with as many channels as the last layer had and as many other
        places; None if neither or both fit. After (8, 16, 7, 7) with channels on axis 1, (8, 7, 7, 16) gives -1."""
        if (last := self._last) is None:
            return None
        channels, places = last.shape[last.axis], _places(last.shape, last.axis)
        first, end = ((shape[axis] == channels) + (_places(shape, axis) == places) for axis in (1, -1))
        if first == end:
            return None
        return 1 if first > end else -1

    def of(self, output: Tensor) -> int | None:
        """Axis of the channels, 1 or -1, of an output (batch, …) of three axes or more; None if it is not known."""
        if (axis := self._follow(output.shape)) or (last := self._last) is None:
            return axis  # known by the shape, or unknown, for no layer of a known kind was called before
        # The shape leaves it open. If the channels of all layers of known kinds are on one axis, they are taken to be
        # there still, unless the strides show that axes were moved (`same`) or the shape does not fit (`fits`).
        same = output.ndim == len(last.shape) and output.is_contiguous() == last.contiguous
        fits = output.shape[last.axis] == last.shape[last.axis] or _places(output.shape, 1) == _places(last.shape, 1)
        return last.axis if fits and same and self._axes == {last.axis} else None

    def axis_given(self, name: str, output: Tensor) -> int | None:
        """The axis that the user gave, of an output (batch, …)."""
        if self._said is None:
            return None
        axis = self._said + output.ndim * (self._said < 0)
        if not 0 <= axis < output.ndim or axis == self._batch:
            kind = "the batch" if axis == self._batch else "no axis"
            raise UserError(f"channel_axis={self._said} is {kind} of {name}, which has {output.ndim} axes")
        return axis + (axis < self._batch)  # the batch has moved to the front, past the axes before it


def _places(shape: torch.Size, axis: int) -> torch.Size:
    """The lengths of the axes other than batch and channels."""
    return shape[2:] if axis == 1 else shape[1:-1]


def units(
    place: Place, output: Tensor, reduce: Reduction, channels: Channels, given: Mapping[str, Tensor], mask: Any
) -> Tensor:
    """(batch, units) in single precision of an output (batch, …).

    `given` are the network's inputs by their paths; mask, of tokens, is what the user gave with them.
    """
    name, samples = place.name, len(output)
    axis = channels.axis_given(name, output) or (channels.of(output) if output.ndim > 2 else None)
    if output.is_complex():
        output = torch.cat([output.real, output.imag], axis or -1)
    output = output.float()
    if callable(reduce):
        output = reduce(output)
        if not isinstance(output, Tensor) or not output.ndim or len(output) != samples:
            raise UserError(f"reduce must give a tensor of ({samples}, …) for {name}")
    elif output.ndim > 2:
        output = _reduce(place, output, reduce, axis, given, mask)
    if not output.numel():
        raise UserError(f"{name} is empty, of shape {tuple(output.shape)}")
    return output.reshape(samples, -1).float()


def _reduce(
    place: Place, output: Tensor, reduce: str, axis: int | None, given: Mapping[str, Tensor], mask: Any
) -> Tensor:
    """An output (batch, …) without padding, reduced over its tokens or places.

    `reduce` "flatten" keeps the shape, with padding set to 0; "mean", "first" and "last" give (batch, features), from
    the tokens that the mask counts. `axis` is that of the channels or features; None is the last, if it is not known.
    """
    shape = tuple(output.shape)
    tokens = output.movedim(-1 if axis is None else axis, -1)  # (batch, tokens …, features)
    counted = _mask_of(place, tokens, given, mask) if output.ndim == 3 else None
    if reduce in ("first", "last") and output.ndim > 3:
        raise UserError(f"{place.name} has no {reduce} token, for it is {shape}: take reduce='mean'")
    if reduce == "mean" and axis is None and counted is None:
        raise UserError(
            f"{place.name} is {shape}, and nothing tells which axis has the channels: say channel_axis=1 or -1"
        )
    if counted is None:
        if reduce == "flatten":
            return output
        flat = tokens.flatten(1, -2)
        return flat.mean(1) if reduce == "mean" else flat[:, 0 if reduce == "first" else -1]
    counted = counted.to(output.device).bool()
    if not counted.any(1).all():
        raise UserError(f"the mask leaves no token of sample {int((~counted.any(1)).nonzero()[0])} of the batch")
    kept = tokens.masked_fill(~counted[..., None], 0)  # not by multiplication: padding may be infinite or NaN
    if reduce == "flatten":
        return kept
    if reduce == "mean":
        return kept.sum(1) / counted.sum(1, keepdim=True)
    order = torch.arange(counted.shape[1], device=output.device)
    # Place (batch,) of the first or last token that counts.
    which = torch.where(counted, order, counted.shape[1]).amin(1) if reduce == "first" else (counted * order).amax(1)
    return kept[torch.arange(len(kept), device=output.device), which]


def _mask_of(place: Place, output: Tensor, given: Mapping[str, Tensor], mask: Any) -> Tensor | None:
    """The mask (batch, tokens) for the tokens of a layer's output (batch, tokens, features), or None if there is none.

    It is `mask` if the user gave it; else the mask among the inputs `given` of the sequence that the layer processes.
    That is the decoder's (inputs with `decoder` in their names) for layers named `decoder` or neither so nor `encoder`,
    but the encoder's for keys and values of cross-attention; if no input of that side has as many tokens, the other.
    """
    size, name = output.shape[:2], place.name
    two = any("decoder" in path for path in given)
    decodes = "decoder" in name or (two and "encoder" not in name)
    decodes &= not (two and _CROSS.search(name))
    if mask is not None:
        found = torch.as_tensor(mask)
        if found.shape == size:
            return found
        raise UserError(_misfit(place, output, found))
    # Token numbers and their masks have the shape of words, which parts for images or sound do not see.
    words = {one.shape for one in given.values() if one.ndim == 2 and one.dtype in (torch.int32, torch.int64)}
    if _SENSES.search(name) and any(one.ndim > 2 and one.is_floating_point() for one in given.values()):
        given = {path: one for path, one in given.items() if one.shape not in words}
    masks = {path: one for path, one in given.items() if path.endswith(MASKS) and one.ndim == 2}
    # Inputs of this layer's length: first those of its own side, encoder or decoder, then those of the other.
    sides: tuple[list[str], list[str]] = [], []
    for path, one in given.items():
        if one.ndim > 1 and one.shape[:2] == size:
            sides[("decoder" in path) != decodes].append(path)
    for side in sides:
        if side:
            return next((masks[path] for path in side if path in masks), None)
    for one in masks.values():  # of the network's only sequence, it must belong to this layer
        if all(other.shape[:2] == one.shape for other in given.values() if other.ndim > 1):
            raise UserError(_misfit(place, output, one))
    return None


def _misfit(place: Place, output: Tensor, mask: Tensor) -> str:
    return (
        f"{place.name} is {tuple(output.shape)}, and the mask of tokens {tuple(mask.shape)} does not fit it: give "
        "token_mask of (batch, tokens), True for tokens that count, or record it apart, without a mask"
    )
