"""What finetuning did to the features of a network, from the two networks themselves, in one call.

from carryover import compare
result = compare(before, after, loader, layers="layer*")
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from torch import Tensor, nn
from tqdm import tqdm

from carryover.diagnosis.axes import Reduction
from carryover.diagnosis.diagnosis import DEFAULTS, Diagnosis, Parameters, attributes, diagnose
from carryover.diagnosis.modules import (
    Call,
    batches,
    call_network,
    find_unused,
    ready,
    restore_random_state,
    split_batch,
    tensors,
)
from carryover.diagnosis.networks import SAME, check_baseline, reinitialise, renew_statistics, weight_changes
from carryover.diagnosis.recording import record
from carryover.diagnosis.sources import as_array
from carryover.diagnosis.task import Targets
from carryover.errors import UserError

LARGEST = 4 * 2**30
"""Bytes that the activations of all networks may take in memory."""
_ALIKE = 0.999  # CKA of a layer with itself
RENEWING = 8  # batches from which the baseline's statistics of normalisation are computed


def compare(
    before: nn.Module,
    after: nn.Module | None = None,
    loader: Iterable[Any] | Tensor | None = None,
    layers: str | Sequence[str] = "*",
    *,
    reduce: Reduction = "flatten",
    batch_axis: int | None = None,
    channel_axis: int | None = None,
    baseline: nn.Module | str | None = "reinitialised",
    labels: Any = "loader",
    adapter: bool = False,
    sample_id: Sequence | None = None,
    seed: int = 0,
    samples: int = 2000,
    call: Call = call_network,
    progress: bool = True,
    p: Parameters = DEFAULTS,
) -> Diagnosis:
    """Diagnose layers of a network before and after finetuning, relative to one that has learnt nothing.

    Each batch goes through all networks, so a loader may shuffle. Activations stay in memory, 4 bytes for each number,
    at most `LARGEST`: `samples` × units of all layers × networks. `record` takes one network at a time.

    Parameters
    ----------
    before, after
        The pretrained and the finetuned network. Their modes, devices, hooks and gradients, and the state of random
        numbers, are afterwards what they were.
    loader
        Batches, as of a DataLoader: tensors, tuples (inputs, labels, …) of which the network gets as many as it needs,
        or mappings of named tensors (HuggingFace's), of which it gets those that it takes; or one tensor (samples, …).
    layers
        Names as `record` takes them, in the network before; of a pattern's, those that all networks have.
    reduce, batch_axis, channel_axis
        As `record` takes them.
    baseline
        "reinitialised" is `before` with its parameters drawn anew from `seed` and its statistics of normalisation
        computed from the first batches; or a network of its shape; or None.
    labels
        What a linear probe is to read: "loader", where its batches have labels; (samples,) classes or numbers; or None.
    adapter
        `before` is a model with an adapter (PEFT's), compared without and with it; `after` is left out.
    sample_id
        (samples,) names; samples of one name, such as crops of one image, are left out together. By default those that
        a loader repeats.
    samples
        How many are taken, the first of the loader.
    call
        call(network, batch) returns the network's output, for batches of other kinds.
    progress
        Whether to show a bar on the standard error.
    p
        Criteria, as `diagnose` takes them.

    Returns
    -------
    Diagnosis
        What `diagnose` returns, with `weight_change` and `weight_rank` of each layer. The headline says which
        parameters and buffers differ.

    Raises
    ------
    UserError
        A ValueError, as those of `record` and `diagnose`, for batches and a loader of other kinds, for activations that
        would take too much memory, and for a baseline that cannot be made.
    """
    _check(samples, baseline, labels)
    networks = _networks(before, after, adapter)
    with restore_random_state():
        loaded = _add_baseline(networks, baseline, iter(batches(loader)), seed, call)
        places = {"names": layers, "reduce": reduce, "batch_axis": batch_axis, "channel_axis": channel_axis}
        recordings, rows, found, reason = _record_networks(networks, call, adapter, loaded, samples, progress, places)
    if not isinstance(labels, str):
        found, reason = labels, ""
    sides, shared = _share_layers(recordings, rows, sample_id)
    old, new = sides.pop("before"), sides.pop("after")
    result = diagnose(old, new, layers=shared, p=p, progress=progress, labels=found, **sides)
    return _attach_changes(result, reason, *weight_changes(before, networks["after"], shared, adapter))


def _check(samples: Any, baseline: Any, labels: Any) -> None:
    """Raise UserError for arguments that `compare` does not take."""
    if not isinstance(samples, int) or samples < 2:
        raise UserError(f"samples must be a whole number from 2, got {samples!r}")
    check_baseline(baseline)
    if isinstance(labels, str) and labels != "loader":
        raise UserError(f"labels must be 'loader', one for each sample, or None, got {labels!r}")


def _add_baseline(
    networks: dict[str, Any], baseline: nn.Module | str | None, loaded: Iterator[Any], seed: int, call: Call
) -> Iterator[Any]:
    """Add the baseline, if any, to `networks`, in place. Returns all batches that `loaded` gives.

    A string stands for a re-initialised copy of the network before finetuning, whose statistics of batch normalisation
    are computed from the first batches.
    """
    if isinstance(baseline, str):
        first = list(islice(loaded, RENEWING))
        baseline = reinitialise(networks["before"], seed)
        renew_statistics(baseline, partial(call, baseline), first)
        loaded = chain(first, loaded)
    if baseline is not None:
        networks["baseline"] = baseline
    return loaded


def _share_layers(
    recordings: dict[str, dict[str, np.ndarray]], rows: list[int], sample_id: Sequence | None
) -> tuple[dict[str, Any], list[str]]:
    """The recordings of the layers that all networks have, with names of samples, and these layers.

    Rows are hashes of inputs, so equal inputs have one name where names are not given."""
    ids = pd.factorize(np.array(rows))[0] if sample_id is None else np.asarray(sample_id)
    shared = [name for name in recordings["before"] if all(name in one for one in recordings.values())]
    if not shared:
        raise UserError(f"layers must be of all networks, and they share none of {', '.join(recordings['before'])}")
    return {name: {key: one[key] for key in shared} | {"sample_id": ids} for name, one in recordings.items()}, shared


def _attach_changes(result: Diagnosis, reason: str, changes: dict[str, list[float]], note: str) -> Diagnosis:
    """The diagnosis with changes of weights by layer, and a note: why no probe reads the task, and what differs."""
    if note == f"{SAME}." and bool((result.get("cka", xr.DataArray(1.0)) < _ALIKE).any()):
        note += " Yet layers differ: the networks draw numbers, or differ in what is no parameter."
    result.attrs["note"] = f"{reason} {note}".strip()
    return result.assign({name: ("layer", values, attributes(name)) for name, values in changes.items()})


def _networks(before: nn.Module, after: nn.Module | None, adapter: bool) -> dict[str, nn.Module]:
    """{"before": network, "after": network}; with `adapter` both are one model, whose adapter callers switch off.

    UserError for what is no network, for an adapter that cannot be switched off, and for networks that share weights.
    """
    if adapter:
        if after is not None or not callable(getattr(before, "disable_adapter", None)):
            raise UserError(
                "adapter=True takes one model whose adapter can be switched off (PEFT's disable_adapter) and no other, "
                f"got {type(before).__name__}{'' if after is None else ' and ' + type(after).__name__}"
            )
        try:
            with before.disable_adapter():  # type: ignore[operator]  # a trial
                after = before
        except (AttributeError, NameError) as error:  # PEFT fails so for adapters that add tokens to some networks
            raise UserError(
                f"the adapter cannot be switched off ({error}): compare with a copy.deepcopy of the network without it"
            ) from error
    networks: dict[str, Any] = {"before": before, "after": after}
    for name, network in networks.items():
        if not isinstance(network, nn.Module):
            raise UserError(f"{name} must be a torch module, got {type(network).__name__}: diagnose takes activations")
        ready(name, network)
    if not adapter and _storages(before) & _storages(networks["after"]):
        raise UserError(
            "before and after share parameters, so that training changed both: take a copy.deepcopy of the network "
            "before it is finetuned, or adapter=True for a model with an adapter"
        )
    return networks


def _storages(network: nn.Module) -> set[int]:
    """Where the parameters' numbers are in memory."""
    return {one.untyped_storage().data_ptr() for one in network.parameters() if one.numel()}


def sample_keys(inputs: Any, count: int, start: int = 0) -> list[int]:
    """A key for each of `count` samples of a batch, by which repetitions are recognised: a hash of the sample's inputs.

    Without inputs that have a row for each sample, keys are running numbers from `start`.
    """
    given = [as_array(path, one) for path, one in tensors(inputs).items() if one.ndim and len(one) == count]
    if not given:
        return [*range(start, start + count)]
    return [hash(b"".join(one[row].tobytes() for one in given)) for row in range(count)]


def _record_networks(
    networks: dict[str, nn.Module], call: Call, adapter: bool, loaded: Iterable[Any], samples: int, progress: bool,
    places: dict[str, Any],
) -> tuple[dict[str, dict[str, np.ndarray]], list[int], np.ndarray | None, str]:  # fmt: skip
    """({network: its recording}, keys, labels, reason) of the first `samples` samples of the batches `loaded`.

    Keys are those of `sample_keys`. Labels (samples, …) are None if no probe can be fitted to them, for the `reason`,
    a sentence. `places` are arguments of `record`."""
    with ExitStack() as stack:
        sees = {name: stack.enter_context(record(one, **places)) for name, one in networks.items()}
        bar = stack.enter_context(tqdm(total=samples, unit=" samples", disable=not progress, file=sys.stderr))
        by_batch: list[Any] = []
        rows: list[int] = []
        for number, batch in enumerate(loaded):
            for name, see in sees.items():
                without = see.module.disable_adapter() if adapter and name == "before" else nullcontext()
                with restore_random_state(number), without:  # networks that draw numbers draw the same ones
                    see.during(partial(call, see.module, batch), batch)
            inputs, named, labels = split_batch(networks["before"], batch, strict=call is call_network)
            unused = find_unused(networks["before"], named)
            taken = {key: one for key, one in named.items() if key not in unused}
            rows += sample_keys((inputs, taken), sees["before"].samples - len(rows), len(rows))
            by_batch.append(labels)
            if (size := sum(see.nbytes for see in sees.values())) > LARGEST:
                raise UserError(
                    f"activations of {sees['before'].samples} samples take {size / 2**30:.1f} GiB of memory, and "
                    f"{LARGEST / 2**30:g} GiB are the most: name fewer layers, take fewer samples or reduce='mean', or "
                    "record networks one by one"
                )
            seen = min(sees["before"].samples, samples)
            bar.update(seen - bar.n)
            if seen == samples:
                break
    recordings = {
        name: {layer: values[:samples] for layer, values in see.recording.items()} for name, see in sees.items()
    }
    if all(labels is None for labels in by_batch):
        reason = f"No probe reads {', '.join(unused)} of the batches: give labels=." if unused else ""
        return recordings, rows[:samples], None, reason
    try:
        found = np.concatenate([as_array("labels", labels) for labels in by_batch])[:samples]
        found = found.squeeze(1) if found.ndim == 2 and found.shape[1] == 1 else found
        Targets.of(found, seen)
    except (ValueError, TypeError, UserError) as error:
        return recordings, rows[:samples], None, f"No probe reads the loader's labels: {error}."
    return recordings, rows[:samples], found, ""
