"""What the arms of a forecast see: features and gradients of networks at the samples of a loader, or activations."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from carryover.diagnosis.comparison import LARGEST, RENEWING, sample_keys
from carryover.diagnosis.modules import (
    LABELS,
    Call,
    bare,
    batches,
    call_network,
    ready,
    restore_random_state,
    split_batch,
    submodules,
    tensors,
)
from carryover.diagnosis.networks import reinitialise, renew_statistics
from carryover.diagnosis.sources import as_array, common_samples, open_source
from carryover.diagnosis.tangent import Views, look_at, single_samples
from carryover.diagnosis.task import Targets
from carryover.errors import UserError
from carryover.measures.gradient_sketches import SKETCH
from carryover.networks.convnet_weights import rescaled_parameter_names
from carryover.statistics.held_out import LEAST

_REINITIALISATIONS = 2


def views_of_network(
    model: nn.Module, loader: Any, arms: Sequence[str], labels: Any, layer: str | None, baseline: Any, factor: float,
    samples: int, seed: int, call: Call,
) -> tuple[dict[str, list[Views]], Targets]:  # fmt: skip
    """{arm: views of its networks} and the targets; arguments and errors are those of `forecast`."""
    ready("model", model)
    singles, first, targets = _load(model, loader, labels, samples, call)
    linear = [name for name, part in submodules(model).items() if isinstance(bare(part), nn.Linear)]
    where = ["", *linear][-1] if layer is None else layer
    networks = _networks(model, arms, baseline, factor, where, seed, first, call)
    count = sum(one.numel() for one in model.parameters())
    needed = 12 * len(singles) * min(count, SKETCH) + 16 * count + 80 * len(singles) ** 2
    if needed > LARGEST:
        most = f"{needed / 2**30:.1f} GiB, and {LARGEST / 2**30:g} GiB are the most: take fewer samples"
        raise UserError(f"gradients at {len(singles)} samples take {most}")
    views = {name: [look_at(one, singles, call, where, name != "probe", seed) for one in of_arm]
             for name, of_arm in networks.items() if name != "probe" or "finetune" not in networks}  # fmt: skip
    if {"probe", "finetune"} <= {*arms}:
        views["probe"] = [Views(views["finetune"][0].features)]
    return views, targets


def _load(model: nn.Module, loader: Any, labels: Any, samples: int, call: Call) -> tuple[list[Any], list[Any], Targets]:
    """The first different samples of a loader as batches of one, its first batches, and the targets."""
    singles: dict[int, Any] = {}
    first: list[Any] = []
    found: list[Any] = []  # labels of the batches
    places: list[int] = []  # of the samples among all that were seen
    seen = 0
    with restore_random_state():
        for batch in batches(loader):
            inputs, named, given = split_batch(model, batch, strict=call is call_network)
            seen_inputs = (inputs, {key: one for key, one in named.items() if key not in LABELS})
            tensors_of = [one for one in tensors(seen_inputs).values() if one.ndim]
            if not tensors_of:
                raise UserError("batches must have tensors, of which each row is a sample")
            rows = len(tensors_of[0] if given is None else as_array("labels", given).reshape(np.shape(given) or (1,)))
            if all(len(one) != rows for one in tensors_of):
                sizes = ", ".join(str(len(one)) for one in tensors_of)
                raise UserError(f"batches must have a row of inputs for each label, got {sizes} for {rows}")
            keys = sample_keys(seen_inputs, rows, seen)
            for row, single in enumerate(single_samples(batch, rows)):
                if keys[row] not in singles and len(singles) < samples:
                    singles[keys[row]] = single
                    places.append(seen + row)
            found.append(given)
            first += [batch] * (len(first) < RENEWING)
            seen += rows
            if len(singles) == samples:
                break
        else:
            if not isinstance(labels, str) and np.shape(labels)[:1] != (seen,):
                raise UserError(f"labels must be one for each of {seen} samples, got an array {np.shape(labels)}")
    if isinstance(labels, str):
        if labels != "loader":
            raise UserError(f"labels must be 'loader' or one for each sample, got {labels!r}")
        if not found or any(one is None for one in found):
            raise UserError("loader must give labels: batches (inputs, labels), a mapping with labels, or say labels=")
        labels = np.concatenate([as_array("labels", one).reshape(len(one), -1) for one in found])
    return [*singles.values()], first, _targets(labels, places)


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
) -> dict[str, list[nn.Module]]:  # fmt: skip
    """{arm: its networks}: the pretrained one, those with weights drawn anew, and a copy with rescaled weights."""
    if not any(one.numel() for one in model.parameters()):
        raise UserError("model has no parameters: of activations a probe can be forecast")
    if not (baseline in ("reinitialised", None) if baseline is None or isinstance(baseline, str) else
            isinstance(baseline, nn.Module)):  # fmt: skip
        raise UserError(f"baseline must be 'reinitialised', a torch module or None, got {baseline!r:.40}")
    networks: dict[str, list[nn.Module]] = {name: [model] for name in ("probe", "finetune") if name in arms}
    changed: list[nn.Module] = []
    if "scratch" in arms and baseline is not None:
        networks["scratch"] = [baseline]
        if isinstance(baseline, str):
            drawn = [_REINITIALISATIONS * seed + place for place in range(_REINITIALISATIONS)]
            changed = networks["scratch"] = [reinitialise(model, number) for number in drawn]
    if "rescale" in arms:
        try:
            networks["rescale"] = [copy.deepcopy(model)]
        except (RuntimeError, TypeError, AttributeError) as error:
            raise UserError(f"the network cannot be copied ({error}): leave the arm rescale out") from None
        parameters = dict(networks["rescale"][0].named_parameters())
        with torch.no_grad():
            for name in rescaled_parameter_names(parameters, "weights", layer or None):
                parameters[name].mul_(factor)
        changed = [*changed, *networks["rescale"]]
    for network in changed:
        renew_statistics(network, partial(call, network), first)
    return networks


def views_of_activations(
    model: Any, labels: Any, baseline: Any, layer: str | None, samples: int
) -> tuple[dict[str, list[Views]], Targets]:
    """Views of recorded activations, and of those of a network with other weights."""
    if labels is None or isinstance(labels, str):
        raise UserError("labels must be given beside activations, one for each sample")
    none = baseline is None or (isinstance(baseline, str) and baseline == "reinitialised")
    given = {"probe": model} | ({} if none else {"scratch": baseline})
    with ExitStack() as stack:
        sources = [stack.enter_context(open_source(source, name)) for name, source in given.items()]
        if layer is None and len(sources[0].layers) > 1:
            raise UserError(f"layer must be one of {', '.join(sources[0].layers)}")
        where = layer or next(iter(sources[0].layers))
        count, ids = common_samples(sources, [where])
        places = np.arange(count) if ids is None else np.sort(np.unique(ids, return_index=True)[1])
        places = places[:samples]
        if np.shape(labels)[:1] != (count,):
            raise UserError(f"labels must be one for each of {count} samples, got an array {np.shape(labels)}")
        targets = _targets(labels, places.tolist())
        features = [source.matrix(where)[places].astype(np.float64) for source in sources]
    return {name: [Views(one)] for name, one in zip(given, features, strict=True)}, targets
