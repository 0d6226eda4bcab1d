"""What finetuning did to the features of a network, from the two networks themselves, in one call.

from carryover import compare
result = compare(before, after, loader, layers="layer*")
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
import xarray as xr
from torch import Tensor, nn
from tqdm import tqdm

from carryover.diagnosis.baseline import copied, reinitialised
from carryover.diagnosis.diagnosis import DEFAULTS, Parameters, diagnose
from carryover.diagnosis.recording import See, said, watched
from carryover.diagnosis.recordings.batches import Call, batches, called, generators_kept, home
from carryover.diagnosis.recordings.names import core
from carryover.diagnosis.recordings.outputs import Reduction
from carryover.errors import UserError

LARGEST = 4 * 2**30
"""Bytes that the activations of all networks may take in memory."""


def compare(
    before: nn.Module,
    after: nn.Module,
    loader: Iterable[Any] | Tensor,
    layers: str | Sequence[str] = "*",
    *,
    reduce: Reduction = "flatten",
    batch_axis: int | None = None,
    baseline: nn.Module | str | None = "reinitialised",
    seed: int = 0,
    samples: int = 2000,
    device: torch.device | str | None = None,
    call: Call = called,
    progress: bool = True,
    p: Parameters = DEFAULTS,
) -> xr.Dataset:
    """Diagnose layers of a network before and after finetuning, and of one that has learnt nothing beside them.

    Each batch goes through all networks, so a loader may shuffle. Activations stay in memory, 4 bytes for each number,
    at most `LARGEST`: `samples` × units of all layers × networks. More than that is for `record`, into files.

    Args:
        before, after: the pretrained and the finetuned network. Their modes, devices, hooks and gradients, and the
            state of random numbers, are afterwards what they were.
        loader: batches, as of a DataLoader: tensors, tuples (inputs, labels, …) of which as many are taken as a network
            cannot do without, or mappings of named tensors (HuggingFace's), of which a network is given those that it
            takes by name; or one tensor (samples, …).
        layers: names as `record` takes them, in the network before; of a pattern's, those that all networks have.
        reduce, batch_axis: as `record` takes them.
        baseline: "reinitialised" is `before` with its parameters drawn anew from `seed`; or a network of its shape; or
            None.
        samples: how many are taken, the first of the loader.
        device: where the networks are called, copies of them if they are elsewhere; None: each where it is.
        call: call(network, batch) returns the network's output; for other batches than those above.
        progress: whether to show a bar on the standard error.
        p: criteria, as `diagnose` takes them.

    Returns:
        What `diagnose` does. The headline says where no parameter differs, as where statistics of batches alone do.

    Raises:
        UserError: a ValueError, as those of `record` and `diagnose`, for batches and a loader of other kinds, for
            activations that would take too much memory, and for a baseline that cannot be made.
    """
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 2:
        raise UserError(f"samples must be a whole number from 2, got {samples!r}")
    where = None if device is None else _device(device)
    with generators_kept(*(home(one) for one in (before, after) if isinstance(one, nn.Module)), *filter(None, [where])):
        networks = _networks(before, after, baseline, seed, where)
        with ExitStack() as stack:
            sees: dict[str, See] = {}
            for name, network in networks.items():
                with _named(name):
                    sees[name] = stack.enter_context(watched(network, layers, reduce=reduce, batch_axis=batch_axis))
            bar = stack.enter_context(tqdm(unit=" samples", disable=not progress, file=sys.stderr))
            _fill(sees, networks, loader, samples, call, bar)
    left_out = {name: why for see in sees.values() for name, why in see.left_out.items()}
    if left_out:
        warnings.warn(said(left_out), stacklevel=2)
    recordings = [see.recording for see in sees.values()]
    shared = [name for name in recordings[0] if all(name in one for one in recordings)]
    if not shared:
        raise UserError(f"layers must be of all networks, and they share none of {', '.join(recordings[0])}")
    count = min(samples, len(recordings[0][shared[0]]))
    order = {"sample_id": np.arange(count)}  # is known to be the same
    sides = [{name: one[name][:count] for name in shared} | order for one in recordings]
    third: dict[str, Any] = {"baseline": sides[2]} if len(sides) == 3 else {}
    result = diagnose(sides[0], sides[1], layers=shared, p=p, progress=progress, **third)
    if note := _unchanged(core(before), core(after)):
        result.attrs["note"] = note
    return result


def _unchanged(before: nn.Module, after: nn.Module) -> str:
    """A sentence where no parameter differs, by name."""

    def differ(one: Iterable[tuple[str, Tensor]], other: Iterable[tuple[str, Tensor]]) -> list[str]:
        old, new = dict(one), dict(other)
        alike = {name for name in old.keys() & new.keys() if torch.equal(old[name].cpu(), new[name].cpu())}
        return [name for name in old | new if name not in alike]

    if differ(before.named_parameters(), after.named_parameters()):
        return ""
    if not (buffers := differ(before.named_buffers(), after.named_buffers())):
        return "No parameter or buffer differs."
    return f"No parameter differs, only buffers do ({', '.join(buffers[:3])}{', …' * (len(buffers) > 3)})."


def _networks(
    before: nn.Module, after: nn.Module, baseline: nn.Module | str | None, seed: int, device: torch.device | None
) -> dict[str, nn.Module]:
    """The networks to call, by name, copies of those that are elsewhere than on `device`."""
    networks = {"before": before, "after": after}
    for name, network in networks.items():
        if not isinstance(network, nn.Module):
            raise UserError(f"{name} must be a torch module, got {type(network).__name__}: diagnose takes activations")
    if isinstance(baseline, nn.Module):
        networks["baseline"] = baseline
    elif baseline == "reinitialised":
        networks["baseline"] = reinitialised(before, seed)
    elif baseline is not None:
        raise UserError(f"baseline must be 'reinitialised', a torch module or None, got {baseline!r}")
    if device is not None:
        networks = {
            name: network if home(network) == device else copied(core(network)).to(device)
            for name, network in networks.items()
        }
    return {name: one.module if isinstance(one, nn.DataParallel) else one for name, one in networks.items()}


def _device(device: torch.device | str) -> torch.device:
    try:
        return torch.empty(0, device=device).device  # of cuda, the current one
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise UserError(f"device must be one that PyTorch has here, got {device!r} ({reason})") from None


@contextmanager
def _named(network: str) -> Iterator[None]:
    """Errors say which network they are about."""
    try:
        yield
    except UserError as error:
        raise UserError(f"in the network {network}, {error}") from None


def _fill(
    sees: Mapping[str, See], networks: Mapping[str, nn.Module], loader: Any, samples: int, call: Call, bar: tqdm
) -> None:
    """Call every network with each batch, until there are `samples`."""
    seen, held = 0, loader if isinstance(loader, Tensor | np.ndarray) else getattr(loader, "dataset", None)
    for batch in batches(loader):
        for name, see in sees.items():
            with _named(name):
                see.through(lambda one, network=networks[name]: call(network, one), batch)
        now = next(iter(sees.values())).samples
        if not seen:
            # of a list of batches the number is a guess, of a generator there is none
            known = (
                len(held) if isinstance(held, Sized) else now * len(loader) if isinstance(loader, Sized) else samples
            )
            bar.total = min(samples, known)
            _check_memory(sees.values(), now, bar.total)
        bar.update(min(now, samples) - seen)
        seen = min(now, samples)
        if seen == samples:
            return
    if not seen:
        raise UserError("loader gives no batches")


def _check_memory(sees: Iterable[See], count: int, total: int) -> None:
    """Raises UserError where `total` samples will be too large, going by the first `count` of them."""
    recordings = [see.recording for see in sees]
    size = sum(values.nbytes for one in recordings for values in one.values()) // count * max(total, count)
    if size > LARGEST:
        raise UserError(
            f"{total} samples of {len(recordings[0])} layers of {len(recordings)} networks would take "
            f"{size / 2**30:.1f} GiB of memory, and {LARGEST / 2**30:g} GiB are the most: name fewer layers, take "
            f"fewer samples or reduce='mean', or record them into files"
        )
