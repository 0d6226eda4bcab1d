"""What the arms of a forecast see: features and gradients of networks at the samples of a loader, or activations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from carryover.diagnosis.comparison import LARGEST, RENEWING, sample_keys
from carryover.diagnosis.modules import (
    BATCHED,
    LABELS,
    Call,
    bare,
    batches,
    call_network,
    ready,
    refuse_single,
    restore_random_state,
    split_batch,
    submodules,
    tensors,
)
from carryover.diagnosis.networks import check_baseline, copy_network, reinitialise, renew_statistics
from carryover.diagnosis.sources import as_array, common_samples, open_source
from carryover.diagnosis.tangent import Views, in_full, look_at, refuse_mixing, single_samples
from carryover.diagnosis.task import Targets
from carryover.errors import UserError
from carryover.measures.gradient_sketches import SKETCH
from carryover.networks.convnet_weights import rescaled_parameter_names
from carryover.statistics.held_out import LEAST

REINITIALISATIONS = 5
"""Networks with weights drawn anew that stand for training from scratch."""


def views_of_network(
    model: nn.Module, loader: Any, arms: Sequence[str], labels: Any, layer: str | None, baseline: Any, factor: float,
    samples: int, seed: int, call: Call,
) -> tuple[dict[str, list[Views]], Targets]:  # fmt: skip
    """{arm: views of its networks} and the targets; arguments and errors are those of `forecast`."""
    ready("model", model)
    singles, first, targets = _load(model, loader, labels, samples, call)
    linear = [name for name, part in submodules(model).items() if isinstance(bare(part), nn.Linear)]
    where = ["", *linear][-1] if layer is None else layer
    count = sum(one.numel() for one in model.parameters())
    needed = 12 * len(singles) * min(count, SKETCH) + 16 * count + 80 * len(singles) ** 2
    if needed > LARGEST:
        most = f"{needed / 2**30:.1f} GiB, and {LARGEST / 2**30:g} GiB are the most: take fewer samples"
        raise UserError(f"gradients at {len(singles)} samples take {most}")
    refuse_mixing(model, first[0], singles[0], call, where)
    views: dict[str, list[Views]] = {}
    for name, network in _networks(model, arms, baseline, factor, where, seed, first, call):
        views.setdefault(name, []).append(look_at(network, singles, call, where, name != "probe", seed))
    if {"probe", "finetune"} <= {*arms}:
        views["probe"] = [Views(views["finetune"][0].features)]
    return views, targets


def _load(model: nn.Module, loader: Any, labels: Any, samples: int, call: Call) -> tuple[list[Any], list[Any], Targets]:
    """(singles, first batches, targets) of the first `samples` different samples of a loader.

    `singles` are these samples as batches of one; the `RENEWING` first batches serve to renew statistics of batch
    normalisation. `labels` is "loader", or an array for all samples of the loader.
    """
    singles: dict[int, Any] = {}  # by the key of the sample, which is the same for repetitions
    first: list[Any] = []
    found: list[Any] = []  # labels of each batch
    places: list[int] = []  # of the different samples among all that were seen
    seen = 0
    with restore_random_state():
        for batch in batches(loader):
            inputs, named, given = split_batch(model, batch, strict=call is call_network)
            seen_inputs = (inputs, {key: one for key, one in named.items() if key not in LABELS})
            rows = _count_samples(seen_inputs, given)
            keys, batch = sample_keys(seen_inputs, rows, seen), in_full(batch, rows)
            for row, single in enumerate(single_samples(batch, rows)):
                if keys[row] not in singles and len(singles) < samples:
                    singles[keys[row]] = single
                    places.append(seen + row)
            found.append(None if given is None else as_array("labels", given).reshape(rows, -1))
            if len(first) < RENEWING:
                first.append(batch)
            seen += rows
            if len(singles) == samples:
                break
        else:  # the loader ended first
            if not found:
                raise UserError("loader gives no batches: an iterator is used up by its first use")
            shape = np.shape(labels)
            if not isinstance(labels, str) and shape[:1] != (seen,):
                hint = f"; if each batch is one sample, {BATCHED}" * (shape[:1] == (len(found),))
                raise UserError(f"labels must be one for each of {seen} samples, got an array {shape}{hint}")
    if isinstance(labels, str):
        if labels != "loader":
            raise UserError(f"labels must be 'loader' or one for each sample, got {labels!r}")
        if any(one is None for one in found):
            raise UserError("loader must give labels: batches [(inputs, labels)], mappings with labels, or say labels=")
        labels = np.concatenate(found)
    return [*singles.values()], first, _targets(labels, places)


def _count_samples(inputs: Any, labels: Any) -> int:
    """How many samples a batch has, by its labels if it has any; UserError where inputs have other numbers of rows."""
    refuse_single(labels)
    sizes = [len(one) for one in tensors(inputs).values() if one.ndim]
    if not sizes:
        raise UserError("batches must have tensors, of which each row is a sample")
    rows = sizes[0] if labels is None else len(np.atleast_1d(as_array("labels", labels)))
    if rows not in sizes:
        given = ", ".join(map(str, sizes))
        raise UserError(f"batches must have a row of inputs for each label, got {given} for {rows}")
    return rows


def _targets(labels: Any, places: Sequence[int]) -> Targets:
    """The targets of the samples at these places; UserError for too few samples or labels."""
    labels = as_array("labels", labels)
    if len(places) < LEAST:
        raise UserError(f"a forecast needs {LEAST} different samples or more, got {len(places)}")
    if labels.ndim not in (1, 2) or len(labels) <= max(places):
        raise UserError(f"labels must be one for each of {max(places) + 1} samples, got an array {labels.shape}")
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    return Targets.of(labels[np.asarray(places)], len(places))


def _networks(
    model: nn.Module, arms: Sequence[str], baseline: Any, factor: float, layer: str, seed: int, first: Sequence[Any],
    call: Call,
) -> Iterator[tuple[str, nn.Module]]:  # fmt: skip
    """Arms and their networks, each made when it is needed: with weights drawn anew, rescaled, and the pretrained one.

    Those that are made come first, so that one that cannot be made is refused before any is looked at."""
    if not any(one.numel() for one in model.parameters()):
        raise UserError("model has no parameters: of activations a probe can be forecast")
    several = isinstance(baseline, list | tuple)
    for one in baseline if several else [baseline]:
        check_baseline(one)
        if several and not isinstance(one, nn.Module):
            raise UserError(f"baseline must be a list of torch modules, and has {one!r:.40}")
        if isinstance(one, nn.Module):
            ready("baseline", one)
        if isinstance(one, nn.Module) and layer in submodules(model) and layer not in (named := submodules(one)):
            has = ", ".join(filter(None, named)) or "none"
            raise UserError(f"baseline must have the layer {layer} of the model, and has {has}")
    if "scratch" in arms and (several or isinstance(baseline, nn.Module)):
        yield from (("scratch", one) for one in (baseline if several else [baseline]))
    elif "scratch" in arms and baseline is not None:
        for place in range(REINITIALISATIONS):
            network = reinitialise(model, REINITIALISATIONS * seed + place)
            renew_statistics(network, partial(call, network), first)
            yield "scratch", network
    if "rescale" in arms:
        network = copy_network(model, "leave the arm rescale out")
        parameters = dict(network.named_parameters())
        with torch.no_grad():
            for name in rescaled_parameter_names(parameters, "weights", layer or None):
                parameters[name].mul_(factor)
        renew_statistics(network, partial(call, network), first)
        yield "rescale", network
    if own := [name for name in ("finetune", "probe") if name in arms]:
        yield own[0], model


def views_of_activations(
    model: Any, labels: Any, baseline: Any, layer: str | None, samples: int
) -> tuple[dict[str, list[Views]], Targets]:
    """Views of recorded activations, and of those of networks with other weights."""
    if labels is None or isinstance(labels, str):
        raise UserError("labels must be given with activations, one for each sample")
    none = baseline is None or (isinstance(baseline, str) and baseline == "reinitialised")
    others = [] if none else baseline if isinstance(baseline, list | tuple) else [baseline]
    with ExitStack() as stack:
        given = [("model", model), *(("baseline", one) for one in others)]
        sources = [stack.enter_context(open_source(source, name)) for name, source in given]
        if layer is None and len(sources[0].layers) > 1:
            raise UserError(f"layer must be one of {', '.join(sources[0].layers)}")
        where = layer or next(iter(sources[0].layers))
        count, ids = common_samples(sources, [where])
        places = np.arange(count) if ids is None else np.sort(np.unique(ids, return_index=True)[1])
        places = places[:samples]
        if np.shape(labels)[:1] != (count,):
            raise UserError(f"labels must be one for each of {count} samples, got an array {np.shape(labels)}")
        targets = _targets(labels, places.tolist())
        probe, *scratch = (Views(source.matrix(where)[places].astype(np.float64)) for source in sources)
    return {"probe": [probe]} | ({"scratch": scratch} if scratch else {}), targets
