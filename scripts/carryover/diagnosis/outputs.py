"""What a submodule gave out, as numbers (batch, units) in single precision on the CPU, or a sentence why not."""

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


def tensors(value: Any) -> Iterator[Tensor]:
    """Every tensor in nested tuples, lists and mappings, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors(part)
    elif isinstance(value, tuple | list):
        for part in value:
            yield from tensors(part)


def entry_of(name: str, output: Any, entry: str | None) -> Tensor:
    """The output, or the named entry of it; the only tensor of a tuple or mapping needs no name."""
    if isinstance(output, Tensor) and entry is None:
        return output
    held = {key: value for key, value in _entries(output).items() if isinstance(value, Tensor)}
    if entry in held:
        return held[entry]
    if entry is None and len({id(value) for value in held.values()}) == 1:
        return next(iter(held.values()))
    listed = ", ".join(held) or "none"
    if entry is None:
        some = ", ".join(f"{name}:{key}" for key in held) or "none fits"
        raise UserError(f"{name} gives a {type(output).__name__}, so say which entry of it: {some}")
    raise UserError(f"{name} must be an entry of the submodule's output, whose entries that are tensors are {listed}")


def _entries(output: Any) -> dict[str, Any]:
    """Entries of a tuple or mapping by name or index, those of a tuple in it by `0.1`; none of anything else."""
    if isinstance(output, Mapping):
        return {str(key): value for key, value in output.items()}
    found: dict[str, Any] = {}
    for index, value in enumerate(output if isinstance(output, tuple | list) else ()):
        inner = _entries(value) if isinstance(value, tuple | list) else {}
        found |= {f"{index}.{key}": one for key, one in inner.items()} or {str(index): value}
    return found | dict(zip(getattr(output, "_fields", ()), output, strict=False))


def batch_first(name: str, output: Tensor, sizes: tuple[int, ...], given: int | None, tokens: bool) -> Tensor:
    """The output with the batch as axis 0.

    `sizes` are numbers that the batch may have by the network's inputs (none: anything), `given` is the user's axis,
    and `tokens` says that there are layers which have tokens in axis 0.
    """
    axis = given or 0
    if not output.ndim:
        raise UserError(f"{name} is one number for the whole batch: name a layer with an output for each sample")
    if output.ndim <= axis:
        raise UserError(f"{name} must have the batch along axis {axis}, and has the shape {tuple(output.shape)}")
    found = output.shape[axis]
    if sizes and found not in sizes:
        other = [place for place, size in enumerate(output.shape) if place != axis and size == sizes[0]]
        hint = f": say batch_axis={other[0]}" if other else ": name a layer with one output for each sample"
        raise UserError(
            f"{name} must have the batch along axis {axis}, and has {found} there for {sizes[0]} samples, of its shape "
            f"{tuple(output.shape)}{hint}"
        )
    if tokens and given is None and output.ndim >= 3:
        raise UserError(
            f"{name} may have tokens along axis 0, for its network has layers with batch_first=False: say "
            f"batch_axis=1, or batch_axis=0 if its axis 0 is the batch"
        )
    return output.movedim(axis, 0)


def tokens_first(module: nn.Module) -> set[nn.Module]:
    """Submodules that torch's own layers make work on (tokens, batch, …)."""
    kinds = (nn.RNNBase, nn.MultiheadAttention, nn.TransformerEncoder, nn.TransformerDecoder,
             nn.TransformerEncoderLayer, nn.TransformerDecoderLayer)  # fmt: skip
    found: set[nn.Module] = set()
    for part in module.modules():
        if isinstance(part, kinds) and not all(getattr(one, "batch_first", True) for one in part.modules()):
            found |= set(part.modules())
    return found


def units(name: str, part: nn.Module, output: Tensor, reduce: Reduction, mask: Tensor | None) -> Tensor:
    """(batch, units) in single precision of an output (batch, …); complex numbers are two units each."""
    if not output.is_complex():
        output = output.float()
    if callable(reduce):
        reduced = reduce(output)
        if not isinstance(reduced, Tensor) or len(reduced) != len(output):
            raise UserError(f"reduce must give a tensor of ({len(output)}, …) for {name}")
        output = reduced
    elif output.ndim > 2 and reduce != "flatten":
        output = _reduced(name, part, output, reduce, mask)
    if output.is_complex():
        output = torch.view_as_real(output.resolve_conj())
    if not output.numel():
        raise UserError(f"{name} is empty, of shape {tuple(output.shape)}")
    return output.reshape(len(output), -1).float()


def _reduced(name: str, part: nn.Module, output: Tensor, reduce: Reduction, mask: Tensor | None) -> Tensor:
    """(batch, features): over places of (batch, features, places …), or over tokens of (batch, tokens …, features)."""
    last = isinstance(part, _FEATURES_LAST) or (output.ndim == 3 and not isinstance(part, _CHANNELS_FIRST))
    if not last:
        if reduce != "mean":
            raise UserError(f"{name} has no {reduce} token, it is (batch, channels, …): take reduce='mean'")
        return output.flatten(2).mean(2)
    if mask is not None and mask.shape == output.shape[:2] and output.ndim == 3:
        mask = mask.to(output.device).bool()
        if not mask.any(1).all():
            raise UserError(f"the mask leaves no token of sample {int((~mask.any(1)).nonzero()[0])} of the batch")
        if reduce != "mean":
            counting = mask if reduce == "first" else mask.flip(1)
            place = counting.int().argmax(1)
            place = place if reduce == "first" else mask.shape[1] - 1 - place
            return output[torch.arange(len(output), device=output.device), place]
        kept = output.masked_fill(~mask[..., None], 0)  # padding may be anything, infinite too
        return kept.sum(1) / mask.sum(1, keepdim=True)
    if mask is not None:
        raise UserError(
            f"{name} is {tuple(output.shape)}, and the mask of tokens {tuple(mask.shape)} does not fit it: give "
            f"token_mask of (batch, tokens), True for tokens that count, or record it apart with reduce='flatten'"
        )
    places = output.flatten(1, -2)
    return places.mean(1) if reduce == "mean" else places[:, 0 if reduce == "first" else -1]
