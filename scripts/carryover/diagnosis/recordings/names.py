"""Submodules by the names that they have without wrappers, and which of them, which call and which entry is meant.

`DataParallel` puts `module.` before every name, `torch.compile` `_orig_mod.`, PEFT `base_model.model.`, and where PEFT
adapts a layer, the layer's own weights move to `base_layer`. A plain name means the same place in all of them; of an
adapted layer it means the whole, with its adapter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from torch import nn
from torch.optim.swa_utils import AveragedModel

from carryover.errors import UserError

TAKEN = ("sample", "sample_id", "id")
_WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)
_UNNAMED = ("_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")
_CORES = ("base_layer", "original_module")  # of a layer that PEFT has wrapped, beside its adapters
_CHOICE = re.compile(r"(?P<part>.+?)(?:@(?P<call>\d+))?(?::(?P<entry>[^:]+))?")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Place:
    """What one recorded layer is: an output, or an entry of it, of one call of a submodule.

    Attributes: name, as it stands in the recording; part, the submodule; call, its index among the calls of `part` in
    one call of the network, None where there must be one only; entry of a tuple (a number) or of a mapping; matched:
    by a pattern, so that it may be left out.
    """

    name: str
    part: nn.Module
    call: int | None = None
    entry: str | None = None
    matched: bool = False


def chosen(module: nn.Module, names: str | Sequence[str]) -> list[Place]:
    """The places that `names` mean, each once. Raises UserError for a name that is none, saying which are close."""
    plain = submodules(module)
    full = {name: part for name, part in module.named_modules() if name}
    if not isinstance(names, Iterable):
        raise UserError(f"names must be one name or several, got {type(names).__name__}")
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise UserError("names must name at least one submodule")
    places: dict[str, Place] = {}
    for name in wanted:
        if not isinstance(name, str) or not name:
            raise UserError("names must be submodules, and an empty name is the whole module")
        if name in TAKEN:
            raise UserError(f"names must not be any of {', '.join(TAKEN)}, which a recording uses itself, got {name}")
        for place in _meant(name, plain, full):
            places.setdefault(place.name, place)
    return list(places.values())


def _meant(name: str, plain: dict[str, nn.Module], full: dict[str, nn.Module]) -> Iterator[Place]:
    if name in plain or name in full:
        yield Place(_plain(name, plain, full), plain[name] if name in plain else full[name])
        return
    choice = _CHOICE.fullmatch(name)
    part, call, entry = choice.group("part", "call", "entry") if choice else (name, None, None)
    suffix = name[len(part) :]
    if _PATTERN.search(part):
        found = [key for key in plain if fnmatchcase(key, part) and key not in TAKEN]
        if not found:
            raise UserError(f"names must be submodules, and none is like {part}; there are: {_some(plain)}")
    elif part in plain or part in full:
        found = [part]
    else:
        close = get_close_matches(part, plain, n=5, cutoff=0.4)
        raise UserError(f"names must be submodules, and {part} is none; close are: {', '.join(close) or _some(plain)}")
    for key in found:
        where = plain[key] if key in plain else full[key]
        number = None if call is None else int(call)
        yield Place(_plain(key, plain, full) + suffix, where, number, entry, matched=bool(_PATTERN.search(part)))


def _some(names: dict[str, Any]) -> str:
    return ", ".join([*list(names)[:5], *(["…"] if len(names) > 5 else [])]) or "none"


def _plain(name: str, plain: dict[str, nn.Module], full: dict[str, nn.Module]) -> str:
    """The plain name of what is named in full; of what has none, as an adapter's inside, the full name."""
    if name in plain:
        return name
    return next((key for key, part in plain.items() if part is full[name]), name)


def submodules(module: nn.Module) -> dict[str, nn.Module]:
    """{plain name: submodule} in torch's order, each submodule once, without the network itself and adapters' insides.

    Where several have one name, it is the outermost: a layer with its adapter.
    """
    found: dict[str, nn.Module] = {}
    _walk(module, "", found, set())
    found.pop("", None)
    return found


def _walk(module: nn.Module, name: str, found: dict[str, nn.Module], seen: set[nn.Module]) -> None:
    if module in seen:
        return
    seen.add(module)
    found.setdefault(name, module)
    inner = inside(module)
    if inner:
        _walk(module.get_submodule(inner), name, found, seen)
        return
    children = dict(module.named_children())
    if core := next((child for child in _CORES if child in children), None):
        _walk(children[core], name, found, seen)
        return
    for child, part in children.items():
        if child != "parametrizations":  # they work on weights and not on samples
            _walk(part, f"{name}.{child}" if name else child, found, seen)


def inside(module: nn.Module) -> str | None:
    """Name of the child that a wrapper wraps; None where `module` wraps nothing."""
    if isinstance(module, _WRAPPERS):
        return "module"
    children = dict(module.named_children())
    peft = any(kind.__module__.partition(".")[0] == "peft" for kind in type(module).__mro__)
    for child in (*_UNNAMED, *(("base_model", "model") if peft else ())):
        if child in children:
            return child
    return None


def bare(part: nn.Module) -> nn.Module:
    """A layer without the wrappers around it and the adapters beside it."""
    part = core(part)
    children = dict(part.named_children())
    held = next((children[child] for child in _CORES if child in children), None)
    return part if held is None else bare(held)


def core(module: nn.Module) -> nn.Module:
    """The network without the wrappers around it."""
    while inner := inside(module):
        module = module.get_submodule(inner)
    return module
