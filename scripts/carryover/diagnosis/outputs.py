"""What a submodule gave out, as numbers (batch, units) in single precision, or a sentence why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from carryover.errors import UserError

Reduction = str | Callable[[Tensor], Tensor]
REDUCTIONS = ("flatten", "mean", "first", "last")
_CHANNELS_FIRST = (nn.modules.conv._ConvNd, nn.modules.batchnorm._BatchNorm, nn.modules.pooling._MaxPoolNd,
                   nn.modules.pooling._AvgPoolNd, nn.modules.pooling._AdaptiveAvgPoolNd,
                   nn.modules.pooling._AdaptiveMaxPoolNd, nn.modules.instancenorm._InstanceNorm,
                   nn.GroupNorm)  # fmt: skip
_FEATURES_LAST = (nn.Linear, nn.LayerNorm, nn.Embedding, nn.MultiheadAttention, nn.RNNBase)


def tensors(value: Any, path: str = "") -> Iterator[tuple[str, Tensor]]:
    """(path, tensor) of every tensor in nested tuples, lists and mappings; a path is of keys and indices, as `1.0`."""
    if isinstance(value, Tensor):
        yield path, value
        return
    if isinstance(value, tuple | list):
        value = dict(zip(getattr(value, "_fields", range(len(value))), value, strict=True))
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from tensors(part, f"{path}.{key}".removeprefix("."))


def entry_of(name: str, output: Any, entry: str | None) -> Tensor:
    """The output, or the named entry of it; the only tensor of a tuple or mapping needs no name."""
    held = dict(tensors(output))
    if entry in held:
        return held[entry]
    if entry is None and len({id(value) for value in held.values()}) == 1:
        return next(iter(held.values()))
    some = ", ".join(f"{name}:{key}" for key in held) or "none fits"
    if entry is None:
        raise UserError(f"{name} gives a {type(output).__name__}, so say which entry of it: {some}")
    raise UserError(f"{name}:{entry} is no tensor in the submodule's output; there are: {some}")


def batch_first(name: str, output: Tensor, sizes: set[int], axis: int | None, tokens: bool) -> Tensor:
    """The output with the batch as axis 0.

    `sizes` are numbers that the batch may have by the network's inputs (none: anything), `axis` is what the user says,
    and `tokens` whether the network has layers with tokens in axis 0.
    """
    given = 0 if axis is None else axis
    if output.ndim <= given:
        raise UserError(f"{name} must have the batch along axis {given}, and has the shape {tuple(output.shape)}")
    if sizes and output.shape[given] not in sizes:
        raise UserError(
            f"{name} must have the batch along axis {given}, and has {output.shape[given]} there for {max(sizes)} "
            f"samples, of its shape {tuple(output.shape)}: say batch_axis=, or name a layer with one output for each "
            "sample"
        )
    if tokens and axis is None and output.ndim == 3:
        raise UserError(
            f"{name} may have tokens along axis 0, for its network has layers with batch_first=False: say "
            f"batch_axis=1, or batch_axis=0 if its axis 0 is the batch"
        )
    return output.movedim(given, 0)


def units(name: str, part: nn.Module, output: Tensor, reduce: Reduction, mask: Tensor | None) -> Tensor:
    """(batch, units) in single precision of an output (batch, …)."""
    samples, output = len(output), output.float()
    if callable(reduce):
        output = reduce(output)
        if not isinstance(output, Tensor) or len(output) != samples:
            raise UserError(f"reduce must give a tensor of ({samples}, …) for {name}")
    elif output.ndim > 2 and reduce != "flatten":
        features_last = isinstance(part, _FEATURES_LAST) or (output.ndim == 3 and not isinstance(part, _CHANNELS_FIRST))
        if features_last:
            output = _over_tokens(name, output, reduce, mask)
        elif reduce == "mean":
            output = output.flatten(2).mean(2)
        else:
            raise UserError(f"{name} has no {reduce} token, it is (batch, channels, …): take reduce='mean'")
    if not output.numel():
        raise UserError(f"{name} is empty, of shape {tuple(output.shape)}")
    return output.reshape(samples, -1).float()


def _over_tokens(name: str, output: Tensor, reduce: str, mask: Tensor | None) -> Tensor:
    """(batch, features) of (batch, tokens …, features): the mean, the first or the last of the tokens that count."""
    if mask is None:
        tokens = output.flatten(1, -2)
        return tokens.mean(1) if reduce == "mean" else tokens[:, 0 if reduce == "first" else -1]
    if output.ndim != 3 or mask.shape != output.shape[:2]:
        raise UserError(
            f"{name} is {tuple(output.shape)}, and the mask of tokens {tuple(mask.shape)} does not fit it: give "
            f"token_mask of (batch, tokens), True for tokens that count, or record it apart with reduce='flatten'"
        )
    mask = mask.to(output.device).bool()
    if not mask.any(1).all():
        raise UserError(f"the mask leaves no token of sample {int((~mask.any(1)).nonzero()[0])} of the batch")
    if reduce == "mean":
        kept = output.masked_fill(~mask[..., None], 0)  # padding may be anything, infinite too
        return kept.sum(1) / mask.sum(1, keepdim=True)
    places = torch.arange(mask.shape[1], device=output.device)
    place = torch.where(mask, places, mask.shape[1]).amin(1) if reduce == "first" else (mask * places).amax(1)
    return output[torch.arange(len(output), device=output.device), place]
