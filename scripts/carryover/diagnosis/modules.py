"""Submodules by the names that they have without wrappers, and how a network is called with a batch of a loader.

`DataParallel` puts `module.` before every name, `torch.compile` `_orig_mod.`, PEFT `base_model.model.`, and where PEFT
adapts a layer, the layer's own weights move to `base_layer`. A plain name means the same place in all of them; of an
adapted layer it means the whole, with its adapter.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel
from torch.utils._pytree import tree_map_only

from carryover.diagnosis.sources import without_numbers
from carryover.errors import UserError

Call = Callable[[nn.Module, Any], Any]
LABELS = ("labels", "label")
BATCHED = "give batches, as DataLoader(dataset, batch_size=64) makes them"
_BATCH = 256  # samples of the batches that an array is cut into
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)
_UNNAMED = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
_ADAPTED = ("base_layer", "original_module")  # of a layer that PEFT has wrapped, besides its adapters


@dataclass(frozen=True)
class Place:
    """What one recorded layer is: the output of a submodule `part`, or an entry of that tuple or mapping.

    Attributes: name, as it stands in the recording; matched by a pattern, so that it may be left out.
    """

    name: str
    part: nn.Module
    entry: str | None = None
    matched: bool = False


def ready(name: str, module: nn.Module) -> None:
    """Raise UserError for a network whose layers cannot be seen, or that has no numbers yet."""
    if isinstance(core(module), torch.jit.ScriptModule):
        raise UserError(
            f"{name} is a TorchScript module, whose layers run unseen: give the network that it was made of"
        )
    if empty := [key for key, one in module.named_parameters() if without_numbers(one)]:
        raise UserError(f"{name} has parameters without numbers ({empty[0]}): load its weights, or call it once")


def places(module: nn.Module, names: str | Sequence[str]) -> list[Place]:
    """The places that `names` mean, each once. Raises UserError for a name that is none, saying which are close."""
    names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    if not names or not all(isinstance(name, str) for name in names):
        raise UserError(f"names must be those of one submodule or several, got {names}")
    plain = submodules(module)
    plain_name = {part: name for name, part in plain.items()}
    parts = {name: part for name, part in module.named_modules() if name} | plain
    found: dict[str, Place] = {}
    for name in names:
        # What follows a colon is an entry of the output, unless it belongs to the name of a submodule.
        stem, _, entry = (name, "", "") if name in parts else name.partition(":")
        pattern = stem not in parts
        matching = [key for key in plain if fnmatchcase(key, stem)] if pattern else [stem]
        if not matching:
            close = get_close_matches(stem, plain, n=5, cutoff=0.4) or [*plain][:5] or ["none"]
            raise UserError(f"names must be submodules, and none is like {stem}; close are: {', '.join(close)}")
        for key in matching:
            full = plain_name.get(parts[key], key) + name[len(stem) :]
            found.setdefault(full, Place(full, parts[key], entry or None, pattern))
    return list(found.values())


def submodules(module: nn.Module) -> dict[str, nn.Module]:
    """{plain name: submodule} in torch's order, each submodule once, without the network itself and adapters' insides.

    Where several have one name, it is the outermost: a layer with its adapter.
    """
    found: dict[str, nn.Module] = {}
    seen: set[nn.Module] = set()

    def walk(part: nn.Module, name: str) -> None:
        """Note a part under its plain name, then all inside it; what a wrapper wraps has the wrapper's name."""
        if part in seen:
            return
        seen.add(part)
        found.setdefault(name, part)
        if (inner := _unwrap_child(part, _ADAPTED)) is not None:
            walk(inner, name)
            return
        if isinstance(part, torch.jit.ScriptModule):  # what is inside runs unseen
            return
        for child, inside in part.named_children():
            if child != "parametrizations":  # they work on weights and not on samples
                walk(inside, f"{name}.{child}" if name else child)

    walk(module, "")
    del found[""]
    return found


def _unwrap_child(module: nn.Module, adapted: tuple[str, ...] = ()) -> nn.Module | None:
    """The module inside a wrapper (DataParallel, torch.compile, PEFT, …), or None if `module` is no wrapper.

    `adapted` are names of further children to return: with `_ADAPTED`, the original layer inside one that PEFT adapts.
    """
    # A child called `model` is common, so that it counts only inside of classes that PEFT defines.
    peft = any(kind.__module__.partition(".")[0] == "peft" for kind in type(module).__mro__)
    names = ("module",) if isinstance(module, _WRAPPERS) else _UNNAMED + ("base_model", "model") * peft + adapted
    children = dict(module.named_children())
    return next((children[name] for name in names if name in children), None)


def core(module: nn.Module, adapted: tuple[str, ...] = ()) -> nn.Module:
    """The network without the wrappers around it."""
    while (inner := _unwrap_child(module, adapted)) is not None:
        module = inner
    return module


def bare(part: nn.Module) -> nn.Module:
    """A layer without its wrappers and adapters."""
    return core(part, _ADAPTED)


def batches(loader: Any) -> Iterable[Any]:
    """The batches of a loader; an array or a tensor (samples, …) is cut into batches of `_BATCH` samples."""
    if isinstance(loader, np.ndarray):
        loader = torch.from_numpy(loader)
    if isinstance(loader, Tensor):
        return loader.split(_BATCH)
    if isinstance(loader, tuple) and len({one.ndim if isinstance(one, Tensor) else -1 for one in loader}) > 1:
        raise UserError("loader must give batches, and is one batch: put it into a list, as [(inputs, labels)]")
    if isinstance(loader, Mapping) or not isinstance(loader, Iterable):
        kind = type(loader).__name__
        raise UserError(f"loader must give batches, as a DataLoader, a list of them or a tensor, got {kind}")
    return loader


def call_network(module: nn.Module, batch: Any) -> Any:
    """What the network returns for a batch.

    That is a tensor; (inputs, labels, …), of which the network gets as many as it needs, one mostly; or a mapping of
    named inputs, of which it gets those that it takes, labels too.
    """
    inputs, named, labels = split_batch(module, batch)
    refuse_single(labels)
    if named:
        named = _accept_named(module, named)
    elif inputs and not isinstance(inputs[0], Tensor):
        kinds, kind = "tensors, tuples (inputs, labels, …) or mappings of named tensors", type(inputs[0]).__name__
        raise UserError(f"batches must be {kinds}, got {kind}: say call=, how a network is called with a batch")
    # Inputs go to the device, and real ones to the type, of the first real parameter of two bytes or more: types of one
    # byte only store weights.
    own = next((one for one in module.parameters() if one.is_floating_point() and one.itemsize > 1), torch.empty(0))

    def place(value: Tensor) -> Tensor:
        if value.is_meta:
            raise UserError("batches must have numbers, and are on the meta device")
        return value.to(own.device, own.dtype if value.is_floating_point() else value.dtype)

    inputs, named = tree_map_only(Tensor, place, (inputs, dict(named)))
    with explain():
        return module(*inputs, **named)


def _accept_named(module: nn.Module, named: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of `named` that the network's `forward` accepts, or all of them if it has only **keywords for these.

    Labels are dropped unless `forward` requires them: with labels the network would compute a loss, which nobody reads,
    and which may fail if its head has other classes. Raises UserError if a required argument is missing from `named`,
    or if none is accepted.
    """
    takes = inspect.signature(core(module).forward).parameters
    needed = [key for key, one in takes.items() if one.default is one.empty and "VAR" not in one.kind.name]
    taken = {key: value for key, value in named.items() if key in takes}
    if not taken and any(one.kind is one.VAR_KEYWORD for one in takes.values()):
        taken = dict(named)
    lacking = [key for key in needed if key not in taken]
    if lacking or not taken:
        raise UserError(
            f"batches have {', '.join(map(str, named))}, and {type(core(module)).__name__} takes {', '.join(takes)}: "
            "name what it takes, or say call=, how a network is called with a batch"
        )
    return {key: value for key, value in taken.items() if key not in LABELS or key in needed}


def find_unused(module: nn.Module, named: Mapping[str, Any]) -> list[str]:
    """The named entries of a batch that a network does not take, which are not masks for the diagnosis."""
    takes = inspect.signature(core(module).forward).parameters
    some = any(key in takes for key in named)
    return [str(key) for key in named if some and key not in takes and not str(key).endswith("mask")]


@contextmanager
def explain() -> Iterator[None]:
    """Turn errors of PyTorch on number types, sparse tensors or labels beyond a head's classes into a UserError."""
    try:
        yield
    except (RuntimeError, IndexError) as error:
        first = str(error).partition("\n")[0]
        if "dtype" in first:
            raise UserError(f"the network cannot be called with numbers of these types: {first}") from error
        if "sparse" in first.lower():
            raise UserError(f"the network cannot be called with sparse tensors, give to_dense(): {first}") from error
        if first.startswith("Target ") and "out of bounds" in first:  # of PyTorch's losses
            said = "the network needs labels, and its head lacks a class of them"
            raise UserError(f"{said} ({first}): say call=, how it is called without") from error
        raise


def split_batch(module: nn.Module, batch: Any, strict: bool = True) -> tuple[list[Any], Mapping[str, Any], Any]:
    """(inputs, named inputs, labels) of a batch; labels follow the inputs or are named so, and may be None.

    Where an entry may be an input or labels, `strict` raises UserError.
    """
    first, *others = batch if isinstance(batch, tuple | list) else (batch,)
    if isinstance(first, Mapping):
        return [], first, next((first[key] for key in LABELS if key in first), next(iter(others), None))
    if not others:
        return [first], {}, None
    parameters = inspect.signature(core(module).forward).parameters.values()
    # Entries after the first are inputs as far as `forward` needs more; the next one is taken for labels.
    positional = [one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD and one.name not in LABELS]
    more = max(0, sum(one.default is one.empty for one in positional) - 1)
    optional = [one.name for one in positional[more + 1 :] if one.default is None]  # inputs or labels may be next
    if strict and len(others) > more + 1 and optional:
        raise UserError(
            f"batches have {1 + len(others)} entries, of which {optional[0]} may be one that the network takes: give "
            "mappings of named inputs and labels, or say call=, how a network is called with a batch"
        )
    return [first, *others[:more]], {}, next(iter(others[more:]), None)


def refuse_single(labels: Any) -> None:
    """Raise UserError for the label of one sample in place of those of a batch."""
    if isinstance(labels, int | float | np.generic) or (isinstance(labels, Tensor) and not labels.ndim):
        raise UserError(f"loader gives samples one by one, each with its own label ({labels}): {BATCHED}")


def tensors(value: Any, path: str = "") -> dict[str, Tensor]:
    """{path: tensor} of all tensors in nested tuples, lists and mappings; other values are ignored.

    A path joins keys and indices by dots: `1.0` is entry 0 of entry 1. `path` is that of `value` itself.
    """
    if isinstance(value, Tensor):
        return {path: value}
    if isinstance(value, tuple | list):  # entries of a named tuple are called by their names
        value = dict(zip(getattr(value, "_fields", range(len(value))), value, strict=True))
    parts = value.items() if isinstance(value, Mapping) else ()
    found = (tensors(part, f"{path}.{key}".removeprefix(".")) for key, part in parts)
    return {inner: tensor for by_path in found for inner, tensor in by_path.items()}


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """The network is in evaluation mode in the block; afterwards all of its parts have the modes that they had."""
    modes = {part: part.training for part in module.modules()}
    try:
        try:
            module.eval()
        except NotImplementedError:
            raise UserError("an exported program has no evaluation mode: give the network it was made of") from None
        yield
    finally:
        for part, mode in modes.items():
            part.training = mode


@contextmanager
def restore_buffers(module: nn.Module) -> Iterator[None]:
    """The network's buffers are afterwards what they were before the block, as objects and as numbers."""
    parts = [part for part in module.modules() if not isinstance(part, torch.jit.ScriptModule)]
    held = [(part._buffers, dict(part._buffers)) for part in parts]
    numbers = [(one, one.detach().clone()) for one in module.buffers() if not one.is_meta]
    try:
        yield
    finally:
        for buffers, before in held:
            buffers.clear()
            buffers.update(before)
        with torch.no_grad():
            for one, values in numbers:
                one.copy_(values)


@contextmanager
def restore_random_state(seed: int | None = None) -> Iterator[None]:
    """Random numbers after the block are those that would have come without it, of Python, NumPy and PyTorch.

    With a seed, all of them begin anew in the block.
    """
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng(range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()):
        try:
            if seed is not None:
                random.seed(seed)
                np.random.seed(seed)  # noqa: NPY002
                torch.default_generator.manual_seed(seed)
                if torch.cuda.is_initialized():  # else CUDA would begin with this seed where it starts after the block
                    torch.cuda.manual_seed_all(seed)
                if torch.backends.mps.is_available():
                    torch.mps.manual_seed(seed)
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
